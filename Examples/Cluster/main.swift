// main.swift: a chat room with members in other processes.
// Example: Cluster. See README.md for the package around it.
// usage: chatroom host [LINES [MILLISECONDS]]   waits for ann, sends lines, prints a report
//        chatroom member NAME                   receives lines; leaves properly on SIGTERM

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import Foundation
import Synchronization

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "host":
  let lines = arguments.count > 1 ? Int(arguments[1]) ?? 10_000 : 10_000
  let pause = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
  let host = Host()
  Task {
    try await host.wait(for: "ann")
    try await host.say(1...lines, every: .milliseconds(pause))
    try await host.report()
    exit(0)
  }
  await stayInCluster("host", isHost: true) { system in
    host.endMembers("the host has another node") { _ in true }
    return [Task { await host.admit(from: system) }, Task { await host.watch(system) }]
  }
case "member" where arguments.count > 1:
  let (name, listener, members) = (arguments[1], Listener(arguments[1]), RoomMemberProxy())
  members.add(listener)
  let door = Mutex<Door?>(nil)  // on the current node
  signal(SIGTERM, SIG_IGN)
  let farewell = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  farewell.setEventHandler {
    Task {
      await door.withLock { $0 }?.close("\(name) leaves")
      try await Task.sleep(for: .seconds(1))  // until senders are notified
      exit(0)
    }
  }
  farewell.resume()
  await stayInCluster(name, isHost: false) { system in
    let next = Door(members, for: RoomMemberProxy.table, types: roomTypes, actorSystem: system)
    door.withLock { $0 = next }
    await system.receptionist.checkIn(next, with: .members)
    print("\(name) is ready")
    return []
  }
default:
  print("usage: chatroom host [LINES [MILLISECONDS]] | member NAME")
}
