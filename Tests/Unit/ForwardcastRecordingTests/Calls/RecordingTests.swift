// RecordingTests.swift: records calls with their outcomes.

import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Foundation
import TestSupport
import Testing

extension Message<(String) -> Int> { fileprivate static var note: Self { .init("note:") } }
extension Message<() -> Void> { fileprivate static var clear: Self { .init("clear") } }
extension Message<() -> Int> { fileprivate static var level: Self { .init("level") } }

@Suite("Recording")
struct RecordingTests {
  @Test("a call is recorded with its answer, if any, or its error")
  func outcomes() throws {
    let ledger = RecordingProxy(of: Ledger(), as: "ledger")
    try expect(ledger.send(.note, "a"), equals: 1)
    try ledger.send(.clear)
    #expect(throws: MessageError.self) { try ledger.dynamic.wash("pan") }
    #expect(throws: Spilled.self) { try ledger.dynamic.merge([String: [Int]](), scale: -1) }
    let calls = ledger.recorder.calls
    expect(calls.map { "\($0.message)" }, equals: ["note: \"a\"", "clear", "wash: \"pan\"", "merge: [:] scale: -1"])
    try expect(calls[0].answer?.unbox(as: Int.self), equals: 1)
    expect(calls[1].answer?.value is Void)
    expect(calls[2].error?.description, equals: "unrecognized selector 'wash:' of Ledger")
    expect(calls[2].error?.type, equals: "MessageError")
    expect(calls[3].error?.description, equals: "scale -1.0 is \"negative\"\nand spills")
    expect(calls[3].answer == nil && calls[0].error == nil)
  }

  @Test("a recording prints a line for each call and indents nested calls")
  func printing() throws {
    let office = Office()
    let _: [Int] = try #require(try office.recorded["desk"]?.dynamic.file("x", times: 2))
    _ = try? office.recorded["desk"]?.dynamic.spill(-0.5)
    expect(
      office.recorder.recording.description,
      equals: """
        [desk file: "x" times: 2] answers [1, 2]
          [ledger note: "x 0"] answers 1
          [ledger note: "x 1"] answers 2
        [desk spill: -0.5] fails: scale -0.5 is "negative"
        and spills
          [ledger merge: [:] scale: -0.5] fails: scale -0.5 is "negative"
        and spills
        """)
    expect(office.recorder.recording.outermostCalls.map(\.receiver), equals: ["desk", "desk"])
  }

  @Test("a call within a call of another recorder is an outermost call of its own recorder")
  func depthIsTheRecorders() throws {
    let ledger = RecordingProxy(of: Ledger())
    let desk = RecordingProxy(of: FrontDesk(ledger))
    let _: [Int] = try desk.dynamic.file("x", times: 1)
    expect(ledger.recorder.calls.map(\.depth), equals: [0])
    expect(desk.recorder.calls.map(\.receiver), equals: ["FrontDesk"])
    // Numbers also order the calls of different recorders.
    expect(desk.recorder.calls[0].order < ledger.recorder.calls[0].order)
  }

  @Test("recordings are equal if receivers, messages, outcomes and depths are")
  func equality() throws {
    func recording(_ text: String, as name: String = "ledger", twice: Bool = false) throws -> Recording {
      let proxy = RecordingProxy(of: Ledger(), as: name)
      _ = try proxy.send(.note, text)
      if twice { _ = try proxy.send(.note, text) }
      return proxy.recorder.recording
    }
    let one = try recording("a")
    expect(try one.isEqual(to: recording("a")) == true)
    expect(try one.isEqual(to: recording("b")) == false)
    expect(try one.isEqual(to: recording("a", as: "other")) == false)
    expect(try one.isEqual(to: recording("a", twice: true)) == false)
    // The same text with another answer.
    var second = try recording("a", twice: true)
    second.calls.removeFirst()
    expect(one.isEqual(to: second) == false)
    let failed = RecordingProxy(of: Ledger(), as: "ledger")
    _ = try? failed.dynamic.wash("a")
    expect(failed.recorder.recording.isEqual(to: one) == false)
  }

  @Test("recordings compare as unknown if a type has no equality and everything else is equal")
  func unknownEquality() throws {
    struct Opaque { let id: Int }
    func recording(_ note: String) throws -> Recording {
      let proxy = RecordingProxy(of: Ledger())
      let _: String = try proxy.dynamic.anything(Opaque(id: 1))
      _ = try proxy.send(.note, note)
      return proxy.recorder.recording
    }
    expect(try recording("a").isEqual(to: recording("a")) == nil)
    expect(try recording("a").isEqual(to: recording("b")) == false)
  }

  @Test("dictionaries with values of any type are equal if their keys and values are")
  func dictionaries() {
    func box(_ value: [String: Any]) -> ArgumentBox { ArgumentBox(value) }
    let one = box(["a": 1, "b": ["c": nil as Int? as Any]])
    expect(one.isEqual(to: box(["b": ["c": nil as Int? as Any], "a": 1])) == true)
    expect(one.isEqual(to: box(["a": 1, "b": ["c": 2]])) == false)
    expect(one.isEqual(to: box(["a": 1, "c": ["c": nil as Int? as Any]])) == false)
    expect(one.isEqual(to: box(["a": 1])) == false)
    struct Opaque {}
    expect(box(["a": Opaque(), "b": 1]).isEqual(to: box(["a": Opaque(), "b": 1])) == nil)
    expect(box(["a": Opaque(), "b": 1]).isEqual(to: box(["a": Opaque(), "b": 2])) == false)
  }

  @Test("a dictionary unboxes as another dictionary type if its keys and values do")
  func dictionariesAreConverted() throws {
    let table = ArgumentBox(["a": [1, 2], "b": [Int]()] as [String: Any])
    try expect(table.unbox(as: [String: [UInt8]].self), equals: ["a": [1, 2], "b": []])
    #expect(throws: UnboxingError.self) { try table.unbox(as: [Int: [UInt8]].self) }
    #expect(throws: UnboxingError.self) { try ArgumentBox(["a": 300]).unbox(as: [String: UInt8].self) }
  }

  @Test("a recording encoded as JSON decodes to an equal one")
  func coding() throws {
    let office = Office()
    let ledger = try #require(office.recorded["ledger"])
    let _: [Int] = try #require(try office.recorded["desk"]?.dynamic.file("x\n\"", times: 2))
    let _: [String: [Double]] = try ledger.dynamic.merge(["a": [1, 2]] as [String: [Int]], scale: 0.5)
    _ = try? ledger.dynamic.wash()
    try ledger.send(.clear)
    let recording = office.recorder.recording
    let read = try JSONDecoder().decode(Recording.self, from: JSONEncoder().encode(recording))
    expect(read.isEqual(to: recording) == true, "\(read)\n\(recording)")
    expect(read.description, equals: recording.description)
    expect(read.calls.map(\.depth), equals: [0, 1, 1, 0, 0, 0])
  }

  @Test("a recording's JSON has a format version; a plain list of calls decodes as version 1, and later versions fail")
  func formatVersion() throws {
    let recorder = CallRecorder()
    try RecordingProxy(of: Desk("ann", Journal()), as: "ann", into: recorder).send(.say, "hi")
    let (data, list) = (try JSONEncoder().encode(recorder.recording), try JSONEncoder().encode(recorder.calls))
    expect(String(decoding: data, as: UTF8.self).contains("\"version\":\(Recording.formatVersion)"))
    try expect(JSONDecoder().decode(Recording.self, from: list).isEqual(to: recorder.recording) == true)
    let later = Data(#"{"version":3,"calls":[]}"#.utf8)
    let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Recording.self, from: later) }
    guard case .dataCorrupted(let context)? = error else { return expect(false, "\(String(describing: error))") }
    expect(
      context.debugDescription.hasPrefix("the recording has format version 3, but this version of Forwardcast reads"))
    for text in [#"{"version":1,"calls":[]}"#, #"{"calls":[]}"#] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(Recording.self, from: Data(text.utf8)) }
    }
  }

  @Test("a decoded recording prints and becomes a script, whatever depth it states")
  func hostileDepth() throws {
    let clear = Message.clear.selector
    let text = #"[{"receiver": "a", "message": {"selector": "\#(clear)", "arguments": []}, "depth": \#(Int.max)}]"#
    let read = try JSONDecoder().decode(Recording.self, from: Data(text.utf8))
    expect(read.calls.map(\.depth), equals: [.max])
    expect(read.description.utf8.count < 200)
    try expect(read.script().utf8.count < 200)
  }

  @Test("an argument that is not Encodable is refused with its type and position")
  func codingRefusal() throws {
    let ledger = RecordingProxy(of: Ledger())
    let _: String = try ledger.dynamic.anything(Ledger())
    let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(ledger.recorder.recording) }
    expect("\(try #require(error))".contains("argument 0 of 'anything:' is not Encodable: Ledger"))
  }

  @Test("a call in progress is described, compared and encoded as such")
  func inProgress() throws {
    let recorder = CallRecorder()
    let seen = MulticastProxy<any MessageReceiver>()
    var inside: Recording?
    seen.on(Message<() -> Int>.level) {
      inside = recorder.recording
      return 3
    }
    let proxy = RecordingProxy(of: seen, as: "seen", into: recorder)
    try expect(proxy.send(.level), equals: 3)
    let recording = try #require(inside)
    expect(recording.description, equals: "[seen level] has not ended")
    expect(recording.isEqual(to: recorder.recording) == false)
    let read = try JSONDecoder().decode(Recording.self, from: JSONEncoder().encode(recording))
    expect(read.isEqual(to: recording) == true)
  }

  @Test("a recorder that is cleared during a call does not record that call")
  func forgetting() throws {
    let recorder = CallRecorder()
    let seen = MulticastProxy<any MessageReceiver>()
    seen.on(Message<() -> Int>.level) {
      recorder.removeAll()
      return 3
    }
    let proxy = RecordingProxy(of: seen, as: "seen", into: recorder)
    try expect(proxy.send(.level), equals: 3)
    expect(recorder.calls.isEmpty)
    try proxy.dynamic.wash()
    expect(recorder.recording.description, equals: "[seen wash]")
  }

  @Test(
    "a recorder with a limit keeps the latest calls and counts the discarded ones", arguments: [0, 1, 3, 20, 100])
  func keepingLast(limit: Int) throws {
    let recorder = CallRecorder(keepingLast: limit)
    let ledger = RecordingProxy(of: Ledger(), into: recorder)
    for index in 0..<60 { try expect(ledger.send(.note, "\(index)"), equals: index + 1) }
    let kept = min(limit, 60)
    let answers = recorder.calls.compactMap { try? $0.answer?.unbox(as: Int.self) }
    expect(answers, equals: Array((60 - kept)..<60).map { $0 + 1 })
    expect(recorder.forgottenCalls, equals: 60 - kept)
    recorder.removeAll()
    expect(recorder.calls.isEmpty && recorder.forgottenCalls == 0)
  }

  @Test("a recording proxy among the targets of a multicast records only messages that its target responds to")
  func amongTargets() throws {
    let ledger = RecordingProxy(of: Ledger(), as: "ledger")
    let crowd = MulticastProxy<any MessageReceiver>()
    crowd.add(ledger)
    let first = try crowd.collect(.note, "a", returning: .all)
    expect(first, equals: [1])
    let summary = crowd.broadcast(Message<(String) -> Void>("wash:"), "pan")
    expect(summary.nobodyResponded)
    expect(ledger.recorder.calls.map { "\($0.message)" }, equals: ["note: \"a\""])
  }

  @Test("messages arrive with their original types, and queries are not recorded")
  func transparency() throws {
    let ledger = RecordingProxy(of: Ledger())
    expect(ledger.responds(to: "note:") && !ledger.responds(to: "wash:"))
    expect(ledger.methodSignature(for: "note:"), equals: Ledger.selectorTable.method(for: "note:")?.signature)
    let error: any Error = Spilled(description: "x")
    expect(try ledger.dynamic.anything(error) as String == "Spilled")
    expect(try ledger.dynamic.anything(Int8(3)) as String == "Int8")
    expect(ledger.recorder.calls.count, equals: 2)
  }

  @Test("recording proxies in a cycle throw an error")
  func ring() throws {
    let crowd = MulticastProxy<any MessageReceiver>()
    let proxy = RecordingProxy(of: crowd, as: "ring")
    crowd.add(proxy)
    let error = #expect(throws: MessageError.self) { try proxy.send(.level) }
    expect(error?.code, equals: .proxyCycle)
    withExtendedLifetime(crowd) {}
  }

  @Test(
    "reading a recorder's calls after each call takes linear time",
    .enabled(if: Bounds.areFull))
  func growth() throws {
    let growing = Growing("calls") { count in
      let (recorded, recorder) = (Invocation("say:", arguments: [ArgumentBox("hello")]), CallRecorder())
      return {
        var asked = 0
        for _ in 0..<count {
          _ = try recorder.record(recorded, to: "ann") { nil }
          asked += recorder.calls.count
        }
        expect(asked, equals: count * (count + 1) / 2)
      }
    }
    try growing.expectLinear(from: 100)
  }
}
