// ReadmeModel.swift: the last block of README.md, messages as values.

import Dispatch
// snippet: readme-model
import Forwardcast
// end
import TestSupport
import Testing

// snippet: readme-model
@Receiver final class Heater {
  @Message func heat(to level: Int) -> Bool { level > 1 }
}
// end

final class Heating: MessageReceiver, Sendable {
  let name: String
  init(_ name: String) { self.name = name }

  static let selectorTable = SelectorTable(for: Heating.self) {
    // A row typed by a key, and one typed by its closure.
    Responds(to: Message<(Int) -> Bool>("heat:")) { heater, level in
      level > 1 || heater.name == "hall"
    }
    Responds(to: "name") { (heater: Heating) in heater.name }
  }
}

@Suite("README's model")
struct ReadmeModel {
  @Test("a message made from text reaches every target that responds, and the report lists their answers")
  func model() async throws {
    let (hall, attic) = (Heating("hall"), Heating("attic"))
    let heaters = MulticastProxy<any MessageReceiver & Sendable>()
    heaters.add(hall)
    // Its own copy of each message, on its own queue:
    heaters.add(attic, delivery: .queue(DispatchQueue(label: "attic")))
    print(heaters.responds(to: "heat:"))  // true

    // As Objective-C writes types: Bool (B), receiver (@), selector (:), Int (q).
    let types = try MethodSignature("B@:q")  // may be left out
    var call = Invocation(
      "heat:", signature: types, arguments: [ArgumentBox(1)])
    let sent = try heaters.forward(&call)
    print(sent)  // delivered 1, queued 1, failed 0, skipped 0
    print(try call.result?.unbox(as: Bool.self) ?? false)  // true, of the hall
    let report = try await heaters.forwardAndWait(call)  // waits for the queue too
    let answers = try report.answers.map { try $0.result?.unbox(as: Bool.self) }
    print(answers.map { $0 ?? false })  // [true, false]
    #expect(heaters.responds(to: "heat:") && !heaters.responds(to: "cool:"))
    var again = call
    expect("\(try heaters.forward(&again))", equals: "delivered 1, queued 1, failed 0, skipped 0")
    try expect(report.answers.map { try $0.result?.unbox(as: Bool.self) }, equals: [true, false])
    withExtendedLifetime((hall, attic)) {}
  }

  @Test("a receiver is called by key and by a message value")
  func receiver() throws {
    // snippet: readme-model
    let heater = Heater()
    print(try heater.send(Heater.Messages.heat, 80))  // true
    var call = Invocation("heatTo:", arguments: [ArgumentBox(1)])
    try heater.perform(&call)  // may be stored, changed and sent again
    print(try call.result?.unbox(as: Bool.self) ?? true)  // false
    // end
    #expect(try heater.send(Heater.Messages.heatTo, 2))
    try expect(call.result?.unbox(as: Bool.self), equals: false)
  }
}
