// main.swift: plug-ins found by class name, and called by selectors from text.
// Example: PlugIn. Run it with `swift run plug-in`.

import Forwardcast
import ForwardcastCoding
import Foundation

/// What a host knows of a plug-in: how to create one. Its messages are in its table.
protocol PlugIn: MessageReceiver {
  init()
}

@Receiver
final class Shouting: PlugIn {
  @Message func transform(_ text: String) -> String { text.uppercased() }
  @Message func echo(_ text: String, times: Int) -> String { String(repeating: text, count: times) }
}

@Receiver
final class Counting: PlugIn {
  private var words = 0
  @Message func transform(_ text: String) -> String { text }
  @Message func read(_ text: String) { words += text.split(separator: " ").count }
  @Message func report() -> String { "\(words) words" }
}

/// The configuration: names of classes, and messages as lines of text.
let names = ["Shouting", "Counting", "Missing"]
let commands = """
  read: to be or not
  transform: hello
  echo:times: ho, 3
  report
  print: x
  echo:times: ho, three
  echo:times: ho, 3, 4
  """

let plugIns = MulticastProxy<any PlugIn>()
for name in names {
  guard let type = NSClassFromString("plug_in.\(name)") as? any PlugIn.Type else {
    print("no class \(name)")
    continue
  }
  print("\(name) answers \(type.selectorTable.selectors.map(\.name).joined(separator: " "))")
  plugIns.add(type.init(), ownership: .strong)
}

for line in commands.split(separator: "\n") {
  let parts = line.split(separator: " ", maxSplits: 1)
  // Unknown names are looked up and not interned, so text from outside cannot use up memory.
  guard let selector = MessageSelector(known: String(parts[0])), plugIns.responds(to: selector) else {
    print("\(line): nobody answers")
    continue
  }
  do {
    // The method's types decide what each word means: "3" is a number here.
    let words = parts.dropFirst().flatMap { $0.split(separator: ", ").map(String.init) }
    var call = try Invocation(text: words, for: selector, of: plugIns)
    let report = try plugIns.forward(&call)
    print("\(call): \(report.answers.compactMap { $0.result?.description }.joined(separator: ", "))")
  } catch { print("\(line): \(error)") }
}

// Prints:
// Shouting answers echo:times: transform:
// Counting answers read: report transform:
// no class Missing
// read: "to be or not": ()
// transform: "hello": "HELLO", "hello"
// echo: "ho" times: 3: "hohoho"
// report: "4 words"
// print: x: nobody answers
// echo:times: ho, three: type mismatch in 'echo:times:' of MulticastProxy<PlugIn>: argument 1: wanted Int (q), found text ("three")
// echo:times: ho, 3, 4: wrong number of arguments for 'echo:times:' of MulticastProxy<PlugIn>: wanted 2, found 3: surplus "4"
