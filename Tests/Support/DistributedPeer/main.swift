// main.swift: the second process of tests, and measurements of messages between processes.
// usage: distributed-peer serve JOURNAL     serves endpoints over standard input and output until they close
//        distributed-peer cost [CALLS]      compares a message with a hand-written distributed method
//        distributed-peer attack [KIND]     measures what a hostile peer costs the attacked process
//        distributed-peer calls KIND CALLS  makes only "hand", "message" or "local" calls, for a profiler

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
  // On a separate thread, since this one belongs to the main actor.
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
