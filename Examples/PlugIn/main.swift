// main.swift: plug-ins are found by the names of their classes, made, and reached by selectors that the host reads from text.
// Example: PlugIn. Run it with `swift run plug-in`.

import Forwardcast
import Foundation

/// All that a host knows of a plug-in: how to make one. What it answers stands in its table.
protocol PlugIn: MessageReceiver {
  init()
}

@Receiver
final class Shouting: PlugIn {
  init() {}
  @Message func transform(_ text: String) -> String { text.uppercased() }
}

@Receiver
final class Counting: PlugIn {
  private var words = 0
  init() {}
  @Message func transform(_ text: String) -> String { text }
  @Message func read(_ text: String) { words += text.split(separator: " ").count }
  @Message func report() -> String { "\(words) words" }
}

/// What the host was configured with: classes by name, then messages with their arguments.
let names = ["Shouting", "Counting", "Missing"]
let commands: [(selector: String, arguments: [any Sendable])] = [
  ("read:", ["to be or not"]), ("transform:", ["hello"]), ("report", []), ("print:", ["x"]), ("read:", [7]),
]

let plugIns = MulticastProxy<any PlugIn>()
for name in names {
  guard let type = NSClassFromString("plug_in.\(name)") as? any PlugIn.Type else {
    print("no class \(name)")
    continue
  }
  print("\(name) answers \(type.selectorTable.selectors.map(\.name).joined(separator: " "))")
  plugIns.add(type.init(), ownership: .strong)
}

for command in commands {
  // A name that no table has is looked up and never interned: text from outside cannot fill the process.
  guard let selector = MessageSelector(known: command.selector), plugIns.responds(to: selector) else {
    print("\(command.selector) nobody answers")
    continue
  }
  var call = Invocation(selector, arguments: command.arguments.map { ArgumentBox($0) })
  do {
    let report = try plugIns.forward(&call)
    print("\(call): \(report.answers.compactMap { $0.result?.description }.joined(separator: ", "))")
  } catch { print("\(call): \(error)") }
}

// Prints:
// Shouting answers transform:
// Counting answers read: report transform:
// no class Missing
// read: "to be or not": ()
// transform: "hello": "HELLO", "hello"
// report: "4 words"
// print: nobody answers
// read: 7: type mismatch read: of Counting: argument 0: wanted String, found Int (7)
