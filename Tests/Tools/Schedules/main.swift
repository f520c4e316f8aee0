// main.swift: walks the scenarios and says how many schedules there are.
// usage: schedules [--all] [--show] [WORDS]     those whose names contain WORDS

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
var all = Walk()
let isWhole = options.contains("--all") || !words.isEmpty
for scenario in Scenario.short + (isWhole ? Scenario.long : []) where words.isEmpty || "\(scenario)".contains(words) {
  let begin = Date()
  do {
    let walk = try walker.walk(scenario.callAsFunction, upTo: isWhole ? .max : 10_000)
    print(
      "\(scenario): \(walk.isCut ? "the first " : "")\(walk.schedules) schedules of up to \(walk.longest) steps, \(walk.redundant) met twice, "
        + seconds(since: begin))
    fflush(nil)
    all.schedules += walk.schedules
  } catch {
    print("\(scenario): \(error)")
    exit(1)
  }
}
guard all.schedules > 0 else {
  print("no scenario is called '\(words)'")
  exit(2)
}
print("\(all.schedules) schedules, all as they must be, \(seconds(since: start))")
