// main.swift: a chat room of which members live in other processes.
// Example: Cluster. See README.md for the package around it.
// usage: chatroom host [LINES [MILLISECONDS]]   waits for ann, says so many lines with pauses between, then reports
//        chatroom member NAME PORT [LINE]       joins, again where the host was started again; with LINE it crashes there
// A member that gets the signal to end (SIGTERM) leaves in order.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "host":
  let lines = arguments.count > 1 ? Int(arguments[1]) ?? 10_000 : 10_000
  let pause = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
  let system = await startNode("host", port: 7337)
  let host = Host()
  Task { await host.admit(from: system) }
  Task { await host.watch(system) }
  try await host.wait(for: "ann")
  let start = ContinuousClock.now
  try await host.say(1...lines, every: .milliseconds(pause))
  print("said \(lines) lines in \((ContinuousClock.now - start).components.seconds) seconds")
  try await host.report()
  try await system.shutdown().wait()
case "member" where arguments.count >= 3:
  let (name, port) = (arguments[1], Int(arguments[2]) ?? 0)
  let listener = Listener(name, crashAt: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
  let members = RoomMemberProxy()
  members.add(listener)
  let system = await startNode(name, port: port)
  let door = Door(members, for: RoomMemberProxy.table, types: roomTypes, actorSystem: system)
  await system.receptionist.checkIn(door, with: .members)
  let joining = Task { await keepJoining(system, host: 7337) }
  let farewell = onFarewell {
    joining.cancel()
    await door.close("\(name) leaves")
    // Until those who send have been told.
    try await Task.sleep(for: .seconds(1))
    try await system.shutdown().wait()
  }
  print("\(name) is ready")
  try await system.terminated
  withExtendedLifetime((door, listener, farewell)) {}
default:
  print("usage: chatroom host [LINES [MILLISECONDS]] | member NAME PORT [LINE]")
}
