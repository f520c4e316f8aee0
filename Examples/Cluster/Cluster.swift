// Cluster.swift: all code that depends on the engine: nodes, and discovery.
// Example: Cluster.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import Foundation

/// A member in another process, as the cluster represents it.
typealias Door = MessageEndpoint<ClusterSystem>

extension DistributedReception.Key {
  static var members: DistributedReception.Key<Door> { .init(Door.self, id: "members") }
}

/// The limits of calls to members. The cluster ends a call without a timeout after 5 seconds.
let memberOptions = RemoteOptions(
  deadline: .seconds(2), types: roomTypes, givesUpAfter: 1,
  engineTimeout: { time, call in try await RemoteCall.with(timeout: time) { try await call() } })

/// The file with the port of the host's node. A deployment has service discovery instead.
let hostPort = FileManager.default.temporaryDirectory.appending(path: "chatroom-host-port")

/// Keeps a process in the cluster, on new nodes as needed. Exits if nodes keep ending.
///
/// A node that was declared down cannot come back. Members may also declare a new node down if it
/// uses the port of an earlier one, so each node uses a new port.
///
/// - Parameter enter: starts the work on a node; its tasks are canceled when the node ends.
func stayInCluster(_ name: String, isHost: Bool, enter: (ClusterSystem) async -> [Task<Void, Never>]) async -> Never {
  var failures = 0
  while failures < 10 {
    let start = ContinuousClock.now
    let system = await ClusterSystem(name) { settings in
      settings.endpoint.host = "127.0.0.1"
      settings.endpoint.port = .random(in: 10_000..<30_000)
      settings.logging.logLevel = .critical
    }
    let tasks = await enter(system)
    if isHost { try? "\(system.cluster.node.port)".write(to: hostPort, atomically: true, encoding: .utf8) }
    let reason = await waitForEnd(of: system, isHost: isHost)
    print("\(name) starts another node: \(reason)")
    for task in tasks { task.cancel() }
    _ = try? system.shutdown()
    failures = start.duration(to: .now) < .seconds(10) ? failures + 1 : 0
  }
  print("\(name) gives up: \(failures) nodes in a row ended within 10 seconds")
  exit(1)
}

/// Joins the host's node and waits until this node is cut off. Returns the reason.
private func waitForEnd(of system: ClusterSystem, isHost: Bool) async -> String {
  var (looked, connected, lost) = (ContinuousClock.now, 0, ContinuousClock.now)
  while true {
    try? await Task.sleep(for: .milliseconds(300))
    let now = ContinuousClock.now
    // The others have declared this node down by now, and it is about to declare the others down.
    if looked.duration(to: now) > .seconds(5) { return "the process stood still" }
    looked = now
    let membership = await system.cluster.membershipSnapshot
    if system.isTerminated || membership.member(system.cluster.node).map({ $0.status >= .down }) ?? false {
      return "others have declared its node down"
    }
    let others = membership.members(withStatus: [.joining, .up], reachability: .reachable).map(\.node.port)
      .filter { $0 != system.cluster.node.port }
    let wanted = isHost ? others.first : (try? String(contentsOf: hostPort, encoding: .utf8)).flatMap { Int($0) }
    if let wanted, others.contains(wanted) {
      (connected, lost) = (wanted, now)
    } else if connected != 0, isHost || wanted == connected {
      if lost.duration(to: now) > .seconds(5) { return "it has reached no other node for 5 seconds" }
    } else if let wanted, wanted > 0, !isHost {
      system.cluster.join(endpoint: Cluster.Endpoint(host: "127.0.0.1", port: wanted))
    }
  }
}
