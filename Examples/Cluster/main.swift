// main.swift: a chat room of which members live in other processes.
// Example: Cluster. See README.md for the package around it.
// usage: chatroom host             waits for ann and bob, says 10,000 lines, then 100 more when eve has come
//        chatroom member NAME PORT [LINE]     joins; with LINE it crashes when it hears that one

import DistributedCluster
import Forwardcast
import ForwardcastDistributed

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "host":
  let system = await startNode("host", port: 7337)
  let host = Host()
  let door = Task { try await host.admit(from: system) }
  try await host.wait(for: "ann")
  try await host.wait(for: "bob")
  let start = ContinuousClock.now
  try await host.say(1...10_000)
  print("said 10,000 lines in \((ContinuousClock.now - start).components.seconds) seconds")
  try await host.wait(for: "eve")
  try await host.say(10_001...10_100)
  try await host.report()
  door.cancel()
  try await system.shutdown().wait()
case "member" where arguments.count >= 3:
  let (name, port) = (arguments[1], Int(arguments[2]) ?? 0)
  let listener = Listener(name, crashAt: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
  let members = RoomMemberProxy()
  members.add(listener)
  let system = await startNode(name, port: port)
  let door = Door(members, for: RoomMemberProxy.table, types: roomTypes, actorSystem: system)
  system.cluster.join(host: "127.0.0.1", port: 7337)
  try await system.cluster.joined(within: .seconds(20))
  await system.receptionist.checkIn(door, with: .members)
  print("\(name) is ready")
  try await system.terminated
  withExtendedLifetime((door, listener)) {}
default:
  print("usage: chatroom host | member NAME PORT [LINE]")
}
