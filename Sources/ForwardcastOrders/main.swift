// main.swift: `forwardcast-orders`, which runs scripts in every order of their queues for `forwardcast run --every-order`.
//
// A separate program, since it links the toolchain's test library, which `forwardcast` must not.

import Forwardcast
import ForwardcastScript
import ForwardcastTesting
import Synchronization

let usage = """
  usage: forwardcast-orders [--limit N] [--] FILE…
  Runs each message script once for each order in which the deliveries on its queues can come, N times at most (10000).
  Stops with status 1 at the first in which an expectation does not hold, or other text is printed than in the first.

  """

/// A script that has to print the same in every order.
final class OrderedScript: Sendable {
  private let name: String
  private let text: String
  /// The output of the first order.
  private let first = Mutex<String?>(nil)

  init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  var output: String { first.withLock { $0 ?? "" } }

  func run(_ schedule: Schedule) {
    let (printed, told) = (Text(), Text())
    var handlers = ScriptHandlers(output: { printed.add($0) }, diagnostics: { told.add("\($0)\n") })
    handlers.delivers = { name, within in schedule.queue(name, within: within) }
    let outcome = ScriptSession(handlers: handlers).run(text, named: name)
    if !outcome.succeeded {
      schedule.expect(false, "fails\n\(told.value)" + (outcome.error.map { "\($0)\n" } ?? "") + "in these turns:")
      return
    }
    let text = printed.value
    let expected = first.withLock { first in
      first = first ?? text
      return first ?? text
    }
    schedule.expect(text == expected, "prints\n\(text)and the first printed\n\(expected)in these turns:")
  }

  /// A text to which several threads append.
  private final class Text: Sendable {
    private let text = Mutex("")
    func add(_ more: String) { text.withLock { $0 += more } }
    var value: String { text.withLock { $0 } }
  }
}

/// Runs one script in every order. Returns the exit status.
func run(_ path: String, upTo limit: Int) async -> Int32 {
  guard let text = scriptText(path) else { return 2 }
  if let error = ScriptSession.check(text, named: path) {
    Stream.error.write("\(error)\n")
    return 2
  }
  let (script, name) = (OrderedScript(path, text), ShownText.shown(path))
  let summary = await everySchedule(
    upTo: limit, reporter: TestReporter { _ in },
    progress: { Stream.error.write("\(name): \($0.orders) orders of at most \(limit)\n") }, { script.run($0) })
  if let failure = summary.failure {
    let turns = failure.turns.enumerated().map { "  \($0 + 1). \($1)\n" }.joined()
    Stream.error.write("\(name): order \(summary.orders) \(failure.reason)\n\(turns)\(failure.diagram)")
    return 1
  }
  Stream.output.write(script.output)
  let orders = summary.isComplete ? "all orders" : "not all orders were run, and those that were"
  Stream.error.write("\(name): \(orders) print the same (\(summary.orders))\n")
  return 0
}

var words = CommandLine.arguments.dropFirst()
var limit = 10_000
if words.first == "--limit", let number = words.dropFirst().first.flatMap({ Int($0) }), number > 0 {
  limit = number
  words = words.dropFirst(2)
}
if words.first == "--" {
  words = words.dropFirst()
} else if words.contains(where: { $0.hasPrefix("-") }) {
  words = []
}
if words.isEmpty { Stream.error.write(usage) }
var status: Int32 = words.isEmpty ? 2 : 0
for path in words { status = max(status, await run(path, upTo: limit)) }
exit(Stream.isComplete() ? status : max(status, 1))
