// main.swift: the other process of tests with two processes; and what a message costs between them.
// usage: distributed-peer serve JOURNAL     endpoints over standard input and output, until that ends
//        distributed-peer cost [CALLS]      a message beside a distributed method written by hand, in turns
//        distributed-peer attack [KIND]     what a hostile peer costs the process that it attacks, for each kind
//        distributed-peer calls KIND CALLS  calls by "hand", "message" or "local" alone: for a profiler

import Distributed
import Forwardcast
import ForwardcastDistributed
import Foundation
import PipeActorSystem

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "serve" where arguments.count == 3:
  let system = PipeActorSystem(reading: 0, writing: 1)
  let journal = PipeActorSystem.$nextName.withValue("journal") {
    MessageEndpoint(Journal(arguments[2]), for: Journal.selectorTable, actorSystem: system)
  }
  let adder = PipeActorSystem.$nextName.withValue("adder") {
    MessageEndpoint(Adder(), for: Adder.selectorTable, types: peerTypes, actorSystem: system)
  }
  let hand = PipeActorSystem.$nextName.withValue("hand") { HandWritten(actorSystem: system) }
  let carrier = PipeActorSystem.$nextName.withValue("carrier") { TextCarrier(actorSystem: system) }
  system.start()
  // On a thread of its own: this one would be the main actor's.
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      system.ended.wait()
      continuation.resume()
    }
  }
  withExtendedLifetime((journal, adder, hand, carrier)) {}
case "cost":
  try await measureCost(calls: arguments.count > 2 ? Int(arguments[2]) ?? 20_000 : 20_000)
case "attack": try await measureAttacks(arguments.dropFirst(2).first)
case "calls" where arguments.count == 4: try await makeCalls(arguments[2], Int(arguments[3]) ?? 1_000)
default:
  let usage = "usage: distributed-peer serve JOURNAL | cost [CALLS] | attack [KIND] | calls KIND CALLS\n"
  FileHandle.standardError.write(Data(usage.utf8))
  exit(2)
}
