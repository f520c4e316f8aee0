// ClusterSystem.swift: a stand-in for Apple's cluster library: all nodes are in this process.
// It is what lets CI compile Examples/Cluster, and tests run its host.

public import Distributed
import Synchronization

public struct ClusterSystemSettings: Sendable {
  public struct Logging: Sendable {
    public enum Level: Sendable {
      case info, critical
    }
    public var logLevel = Level.info
  }
  public var endpoint: Cluster.Endpoint
  public var logging = Logging()
}

/// What all nodes of the process share.
private struct Network: Sendable {
  struct WeakActor: Sendable {
    weak let actor: (any DistributedActor)?
  }
  var membership = Cluster.Membership()
  var lastNode: UInt64 = 0
  var lastActor = 0
  var actors: [ClusterSystem.ActorID: WeakActor] = [:]
  var guests: [String: [any DistributedActor]] = [:]
  var listings: [String: [@Sendable (any DistributedActor) -> Void]] = [:]
  var events: [AsyncStream<Cluster.Event>.Continuation] = []
  /// Systems that have not ended.
  var terminations: [UInt64: [CheckedContinuation<Void, Never>]] = [:]
}

private let network = Mutex(Network())

/// A node of the stand-in. A call to an actor of any node is a call in this process.
public final class ClusterSystem: DistributedActorSystem, Sendable {
  public struct ActorID: Hashable, Codable, Sendable {
    public let node: Cluster.Node
    let number: Int
  }
  public typealias SerializationRequirement = any Codable
  public typealias InvocationEncoder = LocalTestingInvocationEncoder
  public typealias InvocationDecoder = LocalTestingInvocationDecoder
  public typealias ResultHandler = LocalTestingInvocationResultHandler

  private struct Unreachable: DistributedActorSystemError {}

  public let settings: ClusterSystemSettings
  private let node: Cluster.Node

  public init(_ name: String, configuredWith configure: (inout ClusterSystemSettings) -> Void = { _ in }) async {
    var settings = ClusterSystemSettings(
      endpoint: Cluster.Endpoint(systemName: name, host: "127.0.0.1", port: 7337))
    configure(&settings)
    self.settings = settings
    node = network.withLock { [endpoint = settings.endpoint] network in
      network.lastNode += 1
      network.terminations[network.lastNode] = []
      return Cluster.Node(endpoint: endpoint, nid: network.lastNode)
    }
    cluster.become(node, .up)
  }

  public var cluster: ClusterControl { ClusterControl() }
  public var receptionist: DistributedReception.Receptionist { DistributedReception.Receptionist() }

  public struct Shutdown: Sendable {
    public func wait() async throws {}
  }

  @discardableResult
  public func shutdown() throws -> Shutdown {
    cluster.become(node, .down)
    let waiting = network.withLock { $0.terminations.removeValue(forKey: node.nid) } ?? []
    for continuation in waiting { continuation.resume() }
    return Shutdown()
  }

  public var terminated: Void {
    get async throws {
      await withCheckedContinuation { continuation in
        let isOver = network.withLock { network in
          network.terminations[node.nid]?.append(continuation)
          return network.terminations[node.nid] == nil
        }
        if isOver { continuation.resume() }
      }
    }
  }

  // MARK: Actors

  public func resolve<Act: DistributedActor>(id: ActorID, as type: Act.Type) throws -> Act? where Act.ID == ActorID {
    network.withLock { $0.actors[id]?.actor } as? Act
  }
  public func assignID<Act: DistributedActor>(_ type: Act.Type) -> ActorID where Act.ID == ActorID {
    network.withLock { network in
      network.lastActor += 1
      return ActorID(node: node, number: network.lastActor)
    }
  }
  public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
    network.withLock { $0.actors[actor.id] = Network.WeakActor(actor: actor) }
  }
  public func resignID(_ id: ActorID) { network.withLock { _ = $0.actors.removeValue(forKey: id) } }
  public func makeInvocationEncoder() -> InvocationEncoder {
    LocalTestingDistributedActorSystem().makeInvocationEncoder()
  }
  public func remoteCall<Act: DistributedActor, Err: Error, Res: Codable>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type,
    returning: Res.Type
  ) async throws -> Res where Act.ID == ActorID { throw Unreachable() }
  public func remoteCallVoid<Act: DistributedActor, Err: Error>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type
  ) async throws where Act.ID == ActorID { throw Unreachable() }
}

/// The membership, which all nodes see alike.
public struct ClusterControl: Sendable {
  public var events: AsyncStream<Cluster.Event> {
    let (stream, continuation) = AsyncStream.makeStream(of: Cluster.Event.self)
    network.withLock { network in
      continuation.yield(.snapshot(network.membership))
      network.events.append(continuation)
    }
    return stream
  }

  public var membershipSnapshot: Cluster.Membership { get async { network.withLock { $0.membership } } }

  public func join(endpoint: Cluster.Endpoint) {}
  public func down(member: Cluster.Member) { become(member.node, .down) }

  /// Says how a node is: a test says so of nodes that have crashed.
  package func become(_ node: Cluster.Node, _ status: Cluster.MemberStatus) {
    network.withLock { network in
      network.membership.all[node] = Cluster.Member(node: node, status: status, reachability: .reachable)
      for listener in network.events {
        listener.yield(.membershipChange(Cluster.MembershipChange(node: node, status: status)))
      }
    }
  }
}

/// Where actors are found by keys.
public enum DistributedReception {
  public struct Key<Guest: DistributedActor>: Sendable {
    let id: String
    public init(_ guest: Guest.Type = Guest.self, id: String = "*") { self.id = id }
  }

  public struct Receptionist: Sendable {
    public func checkIn<Guest: DistributedActor>(_ guest: Guest, with key: Key<Guest>) async
    where Guest.ActorSystem == ClusterSystem {
      let listings = network.withLock { network in
        network.guests[key.id, default: []].append(guest)
        return network.listings[key.id] ?? []
      }
      for listing in listings { listing(guest) }
    }

    public func listing<Guest: DistributedActor>(of key: Key<Guest>) async -> AsyncStream<Guest>
    where Guest.ActorSystem == ClusterSystem {
      let (stream, continuation) = AsyncStream.makeStream(of: Guest.self)
      let add: @Sendable (any DistributedActor) -> Void = { guest in
        if let guest = guest as? Guest { continuation.yield(guest) }
      }
      let guests = network.withLock { network in
        network.listings[key.id, default: []].append(add)
        return network.guests[key.id] ?? []
      }
      for guest in guests { add(guest) }
      return stream
    }
  }
}

public enum RemoteCall {
  @TaskLocal public static var timeout: Duration?

  public static func with<Response>(
    timeout: Duration, remoteCall: () async throws -> Response
  ) async rethrows -> Response {
    try await $timeout.withValue(timeout, operation: remoteCall)
  }
}
