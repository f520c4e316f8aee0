// Cost.swift: a message to another process beside a distributed method written by hand, in one run.

import Distributed
import Forwardcast
import ForwardcastDistributed
import Foundation
import PipeActorSystem

/// Measures both in turns, batch by batch, and prints the medians and the ratio.
func measureCost(calls: Int) async throws {
  let peer = try PeerProcess(URL(filePath: CommandLine.arguments[0]), journal: "/dev/null")
  let hand = try HandWritten.resolve(id: PipeActorID("hand"), using: peer.system)
  let remote = try await RemoteReceiver(connectingTo: try peer.endpoint("adder"))
  let batch = 200
  var (byHand, byMessage, ratios): ([Double], [Double], [Double]) = ([], [], [])
  for round in 0..<max(calls / batch, 3) {
    let first =
      CommandLine.arguments.last == "m"
      ? try await time(batch) { _ = try await remote.sendAndWait(.note, $0) }
      : try await time(batch) { _ = try await hand.add($0) }
    if CommandLine.arguments.count > 3 { continue }
    let second = try await time(batch) { _ = try await remote.sendAndWait(.note, $0) }
    if round == 0 { continue }
    byHand.append(first)
    byMessage.append(second)
    ratios.append(second / first)
  }
  if CommandLine.arguments.count > 3 { print(byHand.count, ratios.count); peer.kill(); return }
  func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
  func text(_ value: Double) -> String { String(format: "%.2f", value) }
  print("distributed method \(text(median(byHand))) µs, message \(text(median(byMessage))) µs a call")
  print("ratio \(text(median(ratios))), median of \(ratios.count) neighbouring batches of \(batch)")
  peer.kill()
}

private func time(_ count: Int, _ body: (Int) async throws -> Void) async throws -> Double {
  let start = ContinuousClock.now
  for number in 0..<count { try await body(number) }
  let duration = ContinuousClock.now - start
  return Double(duration.components.attoseconds) / 1e12 / Double(count)
    + Double(duration.components.seconds) * 1e6 / Double(count)
}
