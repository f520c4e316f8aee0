// main.swift: a proxy over selector tables, and a message created from text.
// Example: Tables. Run it with `swift run tables`.

import Dispatch
import Forwardcast

/// A class with a selector table. One row takes its types from a key, the other from its closure.
final class Screen: MessageReceiver, Sendable {
  let name: String
  init(_ name: String) { self.name = name }

  static let selectorTable = SelectorTable(for: Screen.self) {
    Responds(to: Message<(String, Int) -> Bool>("show:level:")) { screen, text, level in
      print("  \(screen.name) shows \(text) at \(level)")
      return level < 3
    }
    Responds(to: "title") { (screen: Screen) in screen.name.uppercased() }
  }
}

// A receiver without a class of its own: its table has two closures.
let archive = BareReceiver {
  Responds(to: "show:level:") { (_: BareReceiver, text: String, level: Int) in !text.isEmpty }
  Responds(to: "count") { (_: BareReceiver) in 1 }
}

// The proxy holds its targets weakly, in order. The archive runs on its own queue.
let (home, list) = (Screen("home"), Screen("list"))
let all = MulticastProxy<any MessageReceiver & Sendable>()
all.add(home)
all.add(list)
all.add(archive, delivery: .queue(DispatchQueue(label: "archive")))

print("title: \(all.responds(to: "title")), count: \(all.responds(to: "count")), close: \(all.responds(to: "close"))")

// A message as a value: its selector, signature and arguments could come from a script or a file.
var call = Invocation(
  "show:level:", signature: try MethodSignature("B@:@\"String\"q"),
  arguments: [ArgumentBox("snow"), ArgumentBox(3)])
print(call)
let report = try await all.forwardAndWait(call)
print(report)
for answer in report.answers {
  let who = (answer.target as? Screen)?.name ?? "archive"
  print(
    "  \(who) answers \(try answer.result?.unbox(as: Bool.self) ?? false)\(answer.wasQueued ? ", on its queue" : "")")
}

// Arguments can be changed before the next send. An argument of a wrong type throws an error.
call.arguments[1] = ArgumentBox("high")
do { _ = try await all.forwardAndWait(call) } catch { print(error) }

// A table can change at run time; the next message uses the new row.
try Screen.selectorTable.add(Responds(to: "close") { (screen: Screen) in print("  \(screen.name) closes") })
print("close reaches \(all.broadcast(Invocation("close")).delivered)")

// Prints:
// title: true, count: true, close: false
// show: "snow" level: 3
//   home shows snow at 3
//   list shows snow at 3
// delivered 3, queued 0, failed 0, skipped 0
//   home answers false
//   list answers false
//   archive answers true, on its queue
// type mismatch in 'show:level:' of MulticastProxy<MessageReceiver>: argument 1: wanted Int (q), found String ("high")
//   home closes
//   list closes
// close reaches 2
