// MessageErrorTests.swift: the texts of errors.

import Forwardcast
import Foundation
import TestSupport
import Testing

@Suite("Texts of errors")
struct MessageErrorTests {
  private typealias Code = MessageError.Code

  /// The reasons why the text of some codes suggests no fix.
  private static let reasons: [(code: Code, reason: String)] = [
    (.unrecognizedSelector, "the receiver and the selector say what is missing"),
    (.typeMismatch, "the evidence names the wanted type and the found one"),
    (.wrongArgumentCount, "the evidence has the wanted number and the found one"),
    (.invalidTypeEncoding, "the evidence names the rule and the byte"),
    (.nobodyResponds, "the proxy and the selector say what is missing"),
    (.notAwaited, "the evidence says which form waits"),
    (.isolationMismatch, "the cure depends on what may not cross, and the evidence has it"),
    (.proxyCycle, "the cure depends on what leads back, and the evidence has it"),
    (.tooDeep, "the cure depends on what is deep, and the evidence has it"),
    (.timedOut, "the evidence names those who did not answer"),
    (.cancelled, "somebody wanted the message to end"),
  ]

  @Test("the texts of each error code suggest a fix, or the test states why there is none")
  func cures() throws {
    let source = try String(
      contentsOf: packageFolder("Sources/Forwardcast/Message/MessageError.swift"), encoding: .utf8)
    let descriptions = source.matches(of: /Code\(\s*description: "([^"]+)"/).map { String($0.output.1) }
    let all: [Code] = [
      .unrecognizedSelector, .resolverAddedNothing, .typeMismatch, .wrongArgumentCount, .invalidTypeEncoding,
      .nobodyResponds, .notAwaited, .isolationMismatch, .proxyCycle, .tooManyProxies, .noSelectorTable, .alreadyInTable,
      .wouldDeadlock, .hookEnded, .tooDeep, .timedOut,
      .cancelled,
    ]
    expect(descriptions, equals: all.map(\.description))
    for code in all {
      let reason = Self.reasons.first { $0.code == code }?.reason
      expect((code.cure == nil) != (reason == nil), "\(code)")
      let text = MessageError(code, receiver: "Cook", selector: "wash:", evidence: "evidence").description
      #expect(text.hasPrefix("\(code)"))
      #expect(text.hasSuffix(" 'wash:' of Cook: evidence" + (code.cure.map { "; \($0)" } ?? "")), "\(text)")
    }
  }

  @Test("an error names Swift types, with their encodings in parentheses")
  func types() throws {
    let wanted = [
      "q": "Int (q)", "i": "Int32 (i)", "B": "Bool (B)", "@\"String\"": "String (@\"String\")",
      ":": "MessageSelector (:)",
    ]
    for (encoding, name) in wanted {
      let type = try TypeEncoding(encoding)
      let error = #expect(throws: UnboxingError.self) { try ArgumentBox(["a"]).converted(to: type) }
      expect(error?.wanted, equals: name)
    }
  }

  @Test("the error of a closure names its message once")
  func closures() {
    struct Refused: Error {}
    let proxy = MulticastProxy<any MessageReceiver>()
    let failures = Locked<[String]>([])
    proxy.onError = { failure in failures.withLock { $0.append(failure.description) } }
    proxy.on(Message<(Int, Int) -> Void>("priceChanged::")) { _, _ in throw Refused() }
    proxy.broadcast(Message<(Int, Int) -> Void>("priceChanged::"), 1, 2)
    expect(failures.withLock { $0 }, equals: ["'priceChanged::' failed in a closure: Refused()"])
  }
}
