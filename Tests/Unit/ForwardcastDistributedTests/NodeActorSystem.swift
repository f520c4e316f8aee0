// NodeActorSystem.swift: an engine whose nodes, all in this process, are lost and replaced.

import Distributed
import ForwardcastDistributed
import TestSupport

/// The identity of an actor: its node, one incarnation of a name, and a number.
struct NodeActorID: Hashable, Codable, Sendable {
  let node: String
  let incarnation: Int
  let number: Int
}

typealias NodeEndpoint = MessageEndpoint<NodeActorSystem>

/// The nodes of a test, and their announced endpoints.
final class NodeNetwork: Sendable {
  /// The fate of a call to an endpoint.
  enum Fate: Sendable {
    case arrives
    /// The connection breaks before or after the endpoint has handled the call.
    case breaksBefore, breaksAfter
    /// The call arrives only after the caller has stopped waiting.
    case arrivesLate
  }

  struct Broken: DistributedActorSystemError {}

  private struct State: Sendable {
    var lastNumber = 0
    var endpoints: [NodeActorID: NodeEndpoint] = [:]
    var listeners: [AsyncStream<NodeEndpoint>.Continuation] = []
    var fates: [String: Fate] = [:]
    var late = 0
  }

  private let state = Locked(State())

  /// The endpoints of all nodes that have not ended.
  var announced: Set<NodeActorID> { state.withLock { Set($0.endpoints.keys) } }
  /// The number of calls that have arrived late or will.
  var late: Int { state.withLock { $0.late } }

  func nextNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  func announce(_ endpoint: NodeEndpoint) {
    let listeners = state.withLock { state in
      state.endpoints[endpoint.id] = endpoint
      return state.listeners
    }
    for listener in listeners { listener.yield(endpoint) }
  }

  /// The endpoints announced now and later, as actors of a node.
  func listing(in system: NodeActorSystem) -> AsyncThrowingMapSequence<AsyncStream<NodeEndpoint>, NodeEndpoint> {
    let (stream, continuation) = AsyncStream.makeStream(of: NodeEndpoint.self)
    state.withLock { state in
      for endpoint in state.endpoints.values { continuation.yield(endpoint) }
      state.listeners.append(continuation)
    }
    return stream.map { try NodeEndpoint.resolve(id: $0.id, using: system) }
  }

  /// Ends a node: nothing reaches its actors anymore.
  func end(_ node: String) {
    state.withLock { state in state.endpoints = state.endpoints.filter { $0.key.node != node } }
  }

  /// Sets the fate of calls to a node's endpoints.
  func set(_ fate: Fate, of node: String) { state.withLock { $0.fates[node] = fate } }

  fileprivate func call(_ id: NodeActorID, _ text: String) async throws -> String {
    let (endpoint, fate) = state.withLock { ($0.endpoints[id], $0.fates[id.node] ?? .arrives) }
    guard let endpoint, fate != .breaksBefore else { throw Broken() }
    if fate == .arrivesLate {
      let never = Gate()
      state.withLock { $0.late += 1 }
      await withTaskCancellationHandler {
        await never.pass()
      } onCancel: {
        never.open()
      }
      Task { try await endpoint.receive(text) }
      throw CancellationError()
    }
    let reply = try await endpoint.receive(text)
    if fate == .breaksAfter { throw Broken() }
    return reply
  }
}

/// One node. Its remote calls go through the network.
final class NodeActorSystem: DistributedActorSystem, Sendable {
  typealias ActorID = NodeActorID
  typealias SerializationRequirement = any Codable
  typealias InvocationEncoder = NodeInvocation
  typealias InvocationDecoder = LocalTestingInvocationDecoder
  typealias ResultHandler = LocalTestingInvocationResultHandler

  private let name: String
  private let incarnation: Int
  private let network: NodeNetwork

  init(_ name: String, _ network: NodeNetwork) {
    (self.name, self.network, incarnation) = (name, network, network.nextNumber())
  }

  /// No actor is local to a caller: each call passes the network.
  func resolve<Act: DistributedActor>(id: ActorID, as type: Act.Type) throws -> Act? where Act.ID == ActorID { nil }
  func assignID<Act: DistributedActor>(_ type: Act.Type) -> ActorID where Act.ID == ActorID {
    ActorID(node: name, incarnation: incarnation, number: network.nextNumber())
  }
  func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {}
  func resignID(_ id: ActorID) {}
  func makeInvocationEncoder() -> InvocationEncoder { NodeInvocation() }

  func remoteCall<Act: DistributedActor, Err: Error, Res: Codable>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type,
    returning: Res.Type
  ) async throws -> Res where Act.ID == ActorID {
    guard let reply = try await network.call(actor.id, invocation.text) as? Res else { throw NodeNetwork.Broken() }
    return reply
  }
  func remoteCallVoid<Act: DistributedActor, Err: Error>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type
  ) async throws where Act.ID == ActorID { throw NodeNetwork.Broken() }
}

/// The only argument of an endpoint's method, a text.
struct NodeInvocation: DistributedTargetInvocationEncoder {
  typealias SerializationRequirement = any Codable
  fileprivate var text = ""

  mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {}
  mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
    text = argument.value as? String ?? ""
  }
  mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}
  mutating func recordReturnType<R: Codable>(_ type: R.Type) throws {}
  mutating func doneRecording() throws {}
}
