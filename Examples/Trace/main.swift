// main.swift: the steps of messages as a file for Perfetto and browsers' tracing pages.
// Example: Trace. Run it with `swift run trace`.

import Dispatch
import Forwardcast
import ForwardcastRecording
import Foundation

@Forwarded
protocol Cook: AnyObject, Sendable {
  @Answer(.sum) func cook(_ dish: String) throws -> Int
}

final class Chef: Cook {
  func cook(_ dish: String) -> Int { dish.count }
}

final class Trainee: Cook {
  func cook(_ dish: String) throws -> Int {
    guard dish != "soufflé" else { throw Collapsed() }
    return 1
  }
}

struct Collapsed: Error {}

// A file to open at ui.perfetto.dev. It stays open until the trace is finished.
let path = FileManager.default.temporaryDirectory.appending(path: "kitchen-\(UUID()).json")
try Data().write(to: path)
let handle = try FileHandle(forWritingTo: path)
let file = TraceFile(fileDescriptor: handle.fileDescriptor)

let (chef, trainee) = (Chef(), Trainee())
let kitchen = CookProxy()
kitchen.add(chef)
kitchen.add(trainee, delivery: .queue(DispatchQueue(label: "back kitchen")))
let tracing = kitchen.trace(as: "kitchen") { file.add($0) }
_ = try await kitchen.collectAndWait(CookProxy.Messages.cook, "soup", returning: .sum)
_ = try? await kitchen.collectAndWait(CookProxy.Messages.cook, "soufflé", returning: .sum)
tracing.cancel()
file.finish()
try handle.close()

/// An event of the file: the name of a lane (`M`), a slice (`X`), or an arrow (`s`).
struct Event: Decodable {
  let ph: String
  let tid: Int
  let ts: Double?
  let dur: Double?
  let args: [String: String]?

  subscript(key: String) -> String { args?[key] ?? "" }
  var outcome: String { args?["error"].map { "fails: \($0)" } ?? "= \(self["answer"])" }
}

// Prints what the page draws, without times.
let events = try JSONDecoder().decode([Event].self, from: Data(contentsOf: path))
try FileManager.default.removeItem(at: path)
for lane in events where lane.ph == "M" {
  print(lane["name"])
  let slices = events.filter { $0.ph == "X" && $0.tid == lane.tid }
  for slice in slices.sorted(by: { ($0.ts ?? 0, $1.dur ?? 0) < ($1.ts ?? 0, $0.dur ?? 0) }) {
    let isInside = slice["sender"] == "kitchen"
    print("\(isInside ? "    " : "  ")\(slice["receiver"]) \(slice["message"]) \(slice.outcome)")
  }
}
print("\(events.count { $0.ph == "s" }) arrows")

// Prints:
// main thread
//   kitchen cook: "soup" = 1
//     Chef cook: "soup" = 4
//   kitchen cook: "soufflé" fails: Collapsed()
//     Chef cook: "soufflé" = 7
// queue back kitchen
//     Trainee cook: "soup" = 1
//     Trainee cook: "soufflé" fails: Collapsed()
// 2 arrows
