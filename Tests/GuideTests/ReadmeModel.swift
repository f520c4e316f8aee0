// ReadmeModel.swift: the second block of README.md, the model itself.
// Layer: Tests.

import Dispatch
import Forwardcast
import Testing

// snippet: readme-model
final class Lamp: MessageReceiver, Sendable {
  let name: String
  init(_ name: String) { self.name = name }

  static let selectorTable = SelectorTable(for: Lamp.self) {
    Responds(to: Message<(Int) -> Bool>("dim:")) { lamp, level in level > 1 || lamp.name == "hall" }  // typed by a key
    Responds(to: "name") { (lamp: Lamp) in lamp.name }  // typed by its closure
  }
}
// end

@Suite("README's model")
struct ReadmeModel {
  @Test("a message made from text reaches every responding target, and the report says what each answered")
  func model() async throws {
    // snippet: readme-model

    let (hall, attic) = (Lamp("hall"), Lamp("attic"))
    let lamps = MulticastProxy<any MessageReceiver & Sendable>()
    lamps.add(hall)
    lamps.add(attic, delivery: .queue(DispatchQueue(label: "attic")))  // its own copy of each message, on its own queue
    print(lamps.responds(to: "dim:"), lamps.responds(to: "paint:"))  // true false

    var call = Invocation("dim:", signature: try MethodSignature("B@:q"), arguments: [ArgumentBox(1)])
    print(try lamps.forward(&call))  // delivered 1, queued 1, failed 0, skipped 0
    let report = try await lamps.forwardAndWait(call)
    print(try report.answers.map { try $0.result?.unbox(as: Bool.self) ?? false })  // [true, false]
    // end
    #expect(lamps.responds(to: "dim:") && !lamps.responds(to: "paint:"))
    var again = call
    #expect("\(try lamps.forward(&again))" == "delivered 1, queued 1, failed 0, skipped 0")
    #expect(try report.answers.map { try $0.result?.unbox(as: Bool.self) } == [true, false])
    withExtendedLifetime((hall, attic)) {}
  }
}
