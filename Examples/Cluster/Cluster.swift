// Cluster.swift: what the engine knows: nodes, and how members are found.
// Example: Cluster.

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

/// A node on this machine alone.
func startNode(_ name: String, port: Int) async -> ClusterSystem {
  await ClusterSystem(name) { settings in
    settings.endpoint.host = "127.0.0.1"
    settings.endpoint.port = port
    settings.logging.logLevel = .critical
  }
}

/// Ends the process as a crash does: nobody says farewell.
func die() -> Never {
  kill(getpid(), SIGKILL)
  exit(1)
}
