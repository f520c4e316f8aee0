// Cluster.swift: what members of a cluster are called and how they are; for the module see ClusterSystem.swift.

/// The values of Apple's cluster library, as far as `Examples/Cluster` uses them: names and types are that library's.
public enum Cluster {
  /// Where a node listens. The name is for people, and is not compared.
  public struct Endpoint: Hashable, Codable, Sendable {
    public var systemName: String
    public var host: String
    public var port: Int

    public init(systemName: String, host: String, port: Int) {
      (self.systemName, self.host, self.port) = (systemName, host, port)
    }
    public init(host: String, port: Int) { self.init(systemName: "", host: host, port: port) }

    public static func == (one: Endpoint, other: Endpoint) -> Bool { one.host == other.host && one.port == other.port }
    public func hash(into hasher: inout Hasher) {
      hasher.combine(host)
      hasher.combine(port)
    }
  }

  /// One incarnation of what listens at an endpoint.
  public struct Node: Hashable, Codable, Sendable {
    public var endpoint: Endpoint
    public let nid: UInt64
  }

  public enum MemberStatus: Int, Comparable, Sendable {
    case joining, up, leaving, down, removed
    public static func < (one: MemberStatus, other: MemberStatus) -> Bool { one.rawValue < other.rawValue }
  }

  public enum MemberReachability: Sendable {
    case reachable, unreachable
  }

  public struct Member: Hashable, Sendable {
    public let node: Node
    public var status: MemberStatus
    public var reachability: MemberReachability
  }

  public struct Membership: Sendable {
    var all: [Node: Member] = [:]

    public func members(withStatus statuses: Set<MemberStatus>) -> [Member] {
      all.values.filter { statuses.contains($0.status) }
    }
  }

  public struct MembershipChange: Sendable {
    public let node: Node
    public let status: MemberStatus
  }

  public enum Event: Sendable {
    case snapshot(Membership)
    case membershipChange(MembershipChange)
  }
}
