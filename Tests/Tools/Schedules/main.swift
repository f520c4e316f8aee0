// main.swift: runs the scenarios and prints the number of orders.
// usage: schedules [--all] [--show] [WORDS]     runs the scenarios whose names contain WORDS

import Foundation

@testable import Forwardcast

var arguments = Array(CommandLine.arguments.dropFirst())
let options = Set(arguments.filter { $0.hasPrefix("--") })
arguments.removeAll { $0.hasPrefix("--") }
let words = arguments.joined(separator: " ")

let walker = Walker()
Tasks.join(walker)
if options.contains("--show") {
  walker.begun = { print("the first schedule:\n" + $0.map { "    " + $0 }.joined(separator: "\n")) }
}

func seconds(since start: Date) -> String { String(format: "%.1f s", Date().timeIntervalSince(start)) }

let start = Date()
var all = 0
let isWhole = options.contains("--all")
for scenario in Scenario.short + (isWhole || !words.isEmpty ? Scenario.long : [])
where words.isEmpty || "\(scenario)".contains(words) {
  let begin = Date()
  do {
    let once = try walker.walk(scenario.callAsFunction, .every(changes: 1), upTo: .max)
    let most = isWhole ? Int.max : 5_000
    let twice = try walker.walk(scenario.callAsFunction, .every(changes: 2), upTo: most)
    let random = try walker.walk(scenario.callAsFunction, .random(seed: 1), upTo: isWhole ? 100_000 : 2_000)
    print(
      "\(scenario): \(once.orders) orders of one change, "
        + "\(twice.orders < most ? "" : "the first ")\(twice.orders) of two, "
        + "\(random.orders) at random, of up to \(random.longest) steps, " + seconds(since: begin))
    fflush(nil)
    all += once.orders + twice.orders + random.orders
  } catch {
    print("\(scenario): \(error)")
    exit(1)
  }
}
guard all > 0 else {
  print("no scenario is called '\(words)'")
  exit(2)
}
print("\(all) orders, all as they must be, \(seconds(since: start))")
