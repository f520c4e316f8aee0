// Cluster.swift: what the engine knows: nodes, and how members are found.
// Example: Cluster.

import Dispatch
import DistributedCluster
import Forwardcast
import ForwardcastDistributed

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A member of another process, as the cluster carries it.
typealias Door = MessageEndpoint<ClusterSystem>

extension DistributedReception.Key {
  static var members: DistributedReception.Key<Door> { .init(Door.self, id: "members") }
}

/// How long a member may take, and what it may answer. The cluster ends calls after 5 seconds by itself: it is told otherwise.
func memberOptions(_ deadline: Duration) -> RemoteOptions {
  RemoteOptions(
    deadline: deadline, types: roomTypes, givesUpAfter: 1,
    engineTimeout: { time, call in try await RemoteCall.with(timeout: time) { try await call() } })
}

/// A node on this machine alone.
func startNode(_ name: String, port: Int) async -> ClusterSystem {
  await ClusterSystem(name) { settings in
    settings.endpoint.host = "127.0.0.1"
    settings.endpoint.port = port
    settings.logging.logLevel = .critical
  }
}

/// Joins the host's node whenever it is not among the members: at first, and when it was started again.
func keepJoining(_ system: ClusterSystem, host: Int) async {
  let endpoint = Cluster.Endpoint(host: "127.0.0.1", port: host)
  while !Task.isCancelled {
    let present = await system.cluster.membershipSnapshot.members(withStatus: [.joining, .up])
    if !present.contains(where: { $0.node.endpoint.port == host }) { system.cluster.join(endpoint: endpoint) }
    try? await Task.sleep(for: .seconds(1))
  }
}

/// What is done when the process is asked to end.
func onFarewell(_ body: @escaping @Sendable () async throws -> Void) -> any DispatchSourceSignal {
  signal(SIGTERM, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  source.setEventHandler { Task { try await body() } }
  source.resume()
  return source
}

/// Ends the process as a crash does: nobody says farewell.
func die() -> Never {
  kill(getpid(), SIGKILL)
  exit(1)
}
