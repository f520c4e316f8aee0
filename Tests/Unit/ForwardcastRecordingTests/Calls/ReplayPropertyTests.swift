// ReplayPropertyTests.swift: random recorded sessions replay to identical traces.

import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

extension Message<(String) -> Int> { fileprivate static var note: Self { .init("note:") } }
extension Message<([[UInt8]], [String: String?]) -> Bool> {
  fileprivate static var table: Self { .init("table:named:") }
}

/// Sends one random message, typed, dynamic or as a value, and ignores errors.
private func sendSomething(to office: Office, _ random: inout Seeded) {
  guard let receiver = office.recorded[random.pick(["ledger", "ledger", "desk", "crowd"])] else { return }
  func text(_ random: inout Seeded) -> String { random.text() }
  switch random.number(0...12) {
  case 0: _ = try? receiver.send(.note, random.text())
  case 1: _ = try? receiver.dynamic.note(random.text())
  case 2:
    let value: Int? = random.chance(30) ? nil : random.number(Int.min / 2...Int.max / 2)
    let path = random.list(upTo: 4) { $0.chance(30) ? nil : $0.text() }
    _ = try? receiver.dynamic.store(value as Any, path: path)
  case 3:
    let keys = random.list(upTo: 4, text)
    let table = Dictionary(keys.map { ($0, random.list(upTo: 3) { Int32($0.number(-9...9)) }) }) { $1 }
    let scale = random.pick([Float(0.1), 2, -1, 1e-30])
    _ = try? receiver.dynamic.merge(table, scale: scale)
  case 4:
    let rows = random.list(upTo: 3) { $0.list(upTo: 3) { UInt8($0.number(0...255)) } }
    let names = Dictionary(random.list(upTo: 3, text).map { ($0, random.chance(50) ? random.text() : nil) }) { $1 }
    _ = try? receiver.send(.table, rows, names)
  case 5: _ = try? receiver.dynamic.average()
  case 6: _ = try? receiver.dynamic.clear()
  case 7: _ = try? receiver.dynamic.file(random.text(), times: random.number(0...3))
  case 8: _ = try? receiver.dynamic.spill(random.pick([-0.25, 1.0]))
  case 9: _ = try? receiver.dynamic.wash(random.text(), with: random.number(0...9))
  case 10: _ = try? receiver.dynamic.note(random.number(0...9))  // wrong type
  case 11:
    var message = Invocation("selector:", arguments: [.init(random.pick(["note:", "clear"] as [MessageSelector]))])
    _ = try? receiver.perform(&message)
  default:
    let list = random.list(upTo: 3) { random -> Any in
      if random.chance(50) { return [random.text(), random.number(0...9)] as [Any] }
      return [random.text(): 0.5] as [String: Any]
    }
    _ = try? receiver.dynamic.note(list)
  }
}

@Suite("Replayed recordings")
struct ReplayPropertyTests {
  @Test(
    "replaying a random session gives an identical recording and an identical state",
    arguments: 1...bound(20, full: 100))
  func replays(seed: Int) throws {
    var random = Seeded(seed)
    let first = Office()
    for _ in 0..<random.number(5...40) { sendSomething(to: first, &random) }
    let recording = first.recorder.recording
    let script = try recording.script()

    let second = Office()
    let session = ScriptSession()
    for (name, proxy) in second.recorded { session.register(proxy, as: name) }
    let outcome = session.run(script)
    let comment: Comment = "seed \(seed)\n\(script)\n\(outcome.error.map { "\($0)" } ?? "\(outcome.failures)")"
    expect(outcome.succeeded, comment)

    let replayed = second.recorder.recording
    try expect(replayed.script(), equals: script, comment)
    expect(replayed.calls.map(\.depth), equals: recording.calls.map(\.depth), comment)
    expect(second.state, equals: first.state, comment)
    // A recording of a replay has only values that scripts have, so its replay is equal.
    let third = Office()
    let again = ScriptSession()
    for (name, proxy) in third.recorded { again.register(proxy, as: name) }
    expect(again.run(try replayed.script()).succeeded, comment)
    expect(third.recorder.recording.isEqual(to: replayed) == true, comment)
  }

  @Test("the random sessions contain nested values, errors and nested calls")
  func sessionsAreRich() throws {
    var (failed, nested, lists) = (0, 0, 0)
    let sessions = bound(25, full: 100)
    for seed in 1...sessions {
      var random = Seeded(seed)
      let office = Office()
      for _ in 0..<random.number(5...40) { sendSomething(to: office, &random) }
      for call in office.recorder.calls {
        if call.error != nil { failed += 1 }
        if call.depth > 0 { nested += 1 }
        if call.arguments.contains(where: { $0.value is [Any] || $0.value is [String: Any] }) { lists += 1 }
      }
    }
    expect(
      failed > sessions * 2 && nested > sessions / 2 && lists > sessions * 3,
      "\(failed) failed, \(nested) nested, \(lists) with lists")
  }
}
