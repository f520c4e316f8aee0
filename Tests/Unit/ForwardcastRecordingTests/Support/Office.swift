// Office.swift: receivers with state, nested arguments and errors that send to each other.

import Forwardcast
import ForwardcastRecording

struct Spilled: Error, CustomStringConvertible {
  let description: String
}

/// Rows of many types, each of which changes or returns the ledger's entries.
@Receiver
final class Ledger {
  private(set) var entries: [String] = []

  @Message func note(_ entry: String) -> Int {
    entries.append(entry)
    return entries.count
  }
  @Message func store(_ value: Int?, path: [String?]) -> [String] {
    entries.append("\(path.map { $0 ?? "-" })=\(value.map(String.init) ?? "none")")
    return entries
  }
  @Message func merge(_ table: [String: [Int32]], scale: Float) throws -> [String: [Double]] {
    if scale < 0 { throw Spilled(description: "scale \(scale) is \"negative\"\nand spills") }
    return table.mapValues { $0.map { Double($0) * Double(scale) } }
  }
  @Message func anything(_ value: Any) -> String { "\(type(of: value))" }
  @Message func clear() { entries = [] }
  @Message func average() -> Double? {
    entries.isEmpty ? nil : Double(entries.map(\.count).reduce(0, +)) / Double(entries.count)
  }
  @Message func table(_ rows: [[UInt8]], named names: [String: String?]) -> Bool {
    entries += names.keys.sorted() + rows.map { "\($0.count)" }
    return rows.count == names.count
  }
  @Message func selector(_ selector: MessageSelector) -> MessageSelector { selector }
}

/// Sends each of its arguments to a ledger, through any proxy before it.
@Receiver
final class FrontDesk {
  private let ledger: any MessageReceiver
  init(_ ledger: any MessageReceiver) { self.ledger = ledger }

  @Message func file(_ text: String, times: Int) throws -> [Int] {
    try (0..<times).map { try ledger.dynamic.note("\(text) \($0)") }
  }
  @Message func spill(_ scale: Double) throws {
    let _: Any? = try ledger.dynamic.merge([String: [Int]](), scale: scale)
  }
}

/// A ledger with a desk, and two more ledgers, each behind a recording proxy of one recorder.
struct Office {
  let recorder = CallRecorder()
  let ledger = Ledger()
  let others = [Ledger(), Ledger()]
  let crowd = MulticastProxy<any MessageReceiver>()
  let recorded: [String: any MessageReceiver]

  init() {
    let ledgerProxy = RecordingProxy(of: ledger, as: "ledger", into: recorder)
    for other in others { crowd.add(other) }
    recorded = [
      "ledger": ledgerProxy,
      "desk": RecordingProxy(of: FrontDesk(ledgerProxy), as: "desk", into: recorder),
      "crowd": RecordingProxy(of: crowd, as: "crowd", into: recorder),
    ]
  }

  /// The state of all receivers.
  var state: [[String]] { [ledger.entries] + others.map(\.entries) }
}
