// CallBook.swift: the calls of one double, and the reports about them.

import Forwardcast
import ForwardcastRecording

final class CallBook: Sendable {
  let name: String
  let recorder = CallRecorder()
  let reporter: TestReporter
  let names: SwiftNames
  /// The order numbers of the calls that an expectation has covered.
  private let verified = Guarded<Set<Int>>([])

  init(_ name: String, _ reporter: TestReporter, _ names: SwiftNames) {
    (self.name, self.reporter, self.names) = (name, reporter, names)
  }

  var calls: [RecordedCall] { recorder.calls }

  func markVerified(_ calls: [RecordedCall]) { verified.withLock { $0.formUnion(calls.map(\.order)) } }

  var unverifiedCalls: [RecordedCall] {
    let verified = verified.withLock { $0 }
    return calls.filter { !verified.contains($0.order) }
  }

  func text(_ message: Invocation) -> String { names.call(message.selector, message.arguments.map(\.description)) }

  func text(_ match: CallMatch) -> String { names.call(match.selector, match.arguments.map(\.description)) }

  func report(_ text: String, at place: SourcePlace) { reporter.report(TestFailure(place: place, text: text)) }

  func expect(_ holds: Bool, _ text: @autoclosure () -> String, at place: SourcePlace) -> Bool {
    if !holds { report(text(), at: place) }
    return holds
  }
}
