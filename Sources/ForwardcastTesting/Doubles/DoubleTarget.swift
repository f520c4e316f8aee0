// DoubleTarget.swift: the target that makes a proxy a double.

import Forwardcast
import ForwardcastRecording

/// A proxy's target that records every message and answers it as the stubs say.
final class DoubleTarget<Interface>: MessageForwarding, ForwardingToMany, NamedReceiver, NotTakenAdvising,
  LostErrorHandling, @unchecked Sendable  // state has locks; `rest` is shared only if the interface is Sendable
{
  let book: CallBook
  /// A proxy to the real object, if any.
  let rest: MulticastProxy<Interface>
  private let table: SelectorTable?
  private let isStrict: Bool
  private let place: SourcePlace
  let stubs = Guarded<[Stub]>([])

  init(_ book: CallBook, _ table: SelectorTable?, isStrict: Bool, at place: SourcePlace) {
    (self.book, self.table, self.isStrict, self.place) = (book, table, isStrict, place)
    rest = MulticastProxy(table: table, options: MulticastOptions())
  }

  var receiverName: String { "the double \(book.name)" }

  // MARK: As a target

  func responds(to selector: MessageSelector) -> Bool { true }

  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    table?.method(for: selector)?.signature ?? .objects(arguments: selector.numberOfArguments)
  }

  @discardableResult
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    let message = invocation
    let stub = apply(to: message)
    invocation.result = try book.recorder.record(message, to: book.name) {
      if stub?.outcome?.delay != nil {
        book.report(
          "\(book.name): \(book.text(message)) is stubbed with a delay, but a synchronous caller cannot wait; "
            + "make the requirement async",
          at: place)
      }
      if let answer = try self.answer(stub, message) { return answer }
      var message = message
      return try result(of: try rest.forward(&message))
    }
    return DeliveryReport(answeredBy: self, invocation.result)
  }

  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    let stub = apply(to: invocation)
    let answer = try await book.recorder.recordAndWait(invocation, to: book.name) {
      try await stub?.outcome?.delay?()
      if let answer = try self.answer(stub, invocation) { return answer }
      return try result(of: try await rest.forwardAndWait(invocation))
    }
    return DeliveryReport(answeredBy: self, answer)
  }

  // MARK: Answering

  /// Captures the arguments and returns the next outcome of the last matching stub. Runs before the
  /// call is recorded, so that a test that waits for the call finds the arguments.
  private func apply(to message: Invocation) -> (stub: Stub, outcome: StubOutcome?)? {
    guard let stub = stubs.withLock({ $0 }).last(where: { $0.match.accepts(message) }) else { return nil }
    stub.match.keepArguments(of: message)
    return (stub, stub.take())
  }

  /// The double's own answer; `nil` if the real object must answer the call.
  private func answer(_ applied: (stub: Stub, outcome: StubOutcome?)?, _ message: Invocation) throws -> ArgumentBox? {
    if let answer = try applied?.outcome?.answer(message.arguments) { return answer }
    if rest.count > 0 { return nil }
    if applied == nil, isStrict {
      book.report(FailureText.unexpected(message, of: book, stubs: stubs.withLock { $0.map(\.match) }), at: place)
    }
    // A method without a result counts as answered. Any other call fails as if no target responds.
    guard table?.method(for: message.selector)?.signature.returnType.kind == .void else { throw MessageNotTaken() }
    return ArgumentBox(())
  }

  /// Reports the error of a stub or of the real object if neither the caller nor a handler gets it.
  func handle(_ lost: MulticastFailure) {
    for stub in stubs.withLock({ $0 }) where stub.match.selector == lost.selector {
      guard let place = stub.place(of: lost.error) else { continue }
      return book.report(
        "\(book.name): \(book.text(stub.match)) is stubbed with the error \(lost.error), but the caller cannot receive "
          + "it; make the requirement throw, stub an answer, or set onError of the double's proxy",
        at: place)
    }
    book.report(
      "\(book.name): '\(lost.selector)' failed with \(lost.error), but the caller cannot receive the error; "
        + "make the requirement throw, or set onError of the double's proxy",
      at: place)
  }

  private func result(of report: DeliveryReport) throws -> ArgumentBox? {
    if let failure = report.failures.first { throw failure.error }
    return report.result
  }

  func advice(for selector: MessageSelector) -> String {
    if rest.count > 0 { return "" }
    let stubs = stubs.withLock { $0.map(\.match) }.filter { $0.selector == selector }
    if stubs.isEmpty {
      return "the double \(book.name) has no stub for the message; write double.\(book.names.stub(selector))"
    }
    return "no stub of the double \(book.name) accepts these arguments; its stubs are "
      + stubs.map { book.text($0) }.joined(separator: ", ")
  }
}
