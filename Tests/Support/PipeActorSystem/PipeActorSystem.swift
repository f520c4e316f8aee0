// PipeActorSystem.swift: a small engine for tests, between two processes connected by pipes.

import Distributed
import Forwardcast
import Foundation

/// The identity of an actor at one end of the pipes.
public struct PipeActorID: Hashable, Codable, Sendable, CustomStringConvertible {
  public let name: String
  public init(_ name: String) { self.name = name }
  public var description: String { name }
}

/// The errors of the engine.
public enum PipeError: Error, Hashable {
  case cut
  case noSuchActor(String)
  case remote(String)
}

/// A distributed actor system between two processes, each with one end of a pair of pipes.
///
/// ``PipeFaults`` decides what happens to a frame. A call without an answer waits until it is
/// canceled or the pipes are cut.
public final class PipeActorSystem: DistributedActorSystem, Sendable {
  public typealias ActorID = PipeActorID
  public typealias SerializationRequirement = any Codable
  public typealias InvocationEncoder = PipeInvocationEncoder
  public typealias InvocationDecoder = PipeInvocationDecoder
  public typealias ResultHandler = PipeResultHandler

  /// The name for the next actor that this task creates.
  @TaskLocal public static var nextName: String?

  private struct WeakActor: Sendable {
    weak let actor: (any DistributedActor)?
  }

  private struct State: Sendable {
    var actors: [PipeActorID: WeakActor] = [:]
    var named = 0
    var calls: UInt64 = 0
    var pending: [UInt64: CheckedContinuation<Data, any Error>] = [:]
    var cancelled: Set<UInt64> = []
    var isCut = false
  }

  private let state = Guarded(State())
  private let input: Int32
  private let output: Int32
  private let writer = DispatchQueue(label: "pipe writer")
  /// The faults of frames in both directions.
  public let faults: PipeFaults
  /// Signaled when the other side has closed its pipe.
  public let ended = DispatchSemaphore(value: 0)

  public init(reading input: Int32, writing output: Int32, faults: PipeFaults = PipeFaults()) {
    // Writing to a closed end must throw instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    (self.input, self.output, self.faults) = (input, output, faults)
  }

  /// Starts reading. Actors that must be reachable from the beginning are created before.
  public func start() { Thread.detachNewThread { self.readFrames() } }

  // MARK: Actors

  public func resolve<Act: DistributedActor>(id: ActorID, as type: Act.Type) throws -> Act? where Act.ID == ActorID {
    state.withLock { $0.actors[id]?.actor } as? Act
  }

  public func assignID<Act: DistributedActor>(_ type: Act.Type) -> ActorID where Act.ID == ActorID {
    if let name = PipeActorSystem.nextName { return PipeActorID(name) }
    return state.withLock { state in
      state.named += 1
      return PipeActorID("actor-\(state.named)")
    }
  }

  public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
    state.withLock { $0.actors[actor.id] = WeakActor(actor: actor) }
  }

  public func resignID(_ id: ActorID) { state.withLock { _ = $0.actors.removeValue(forKey: id) } }

  public func makeInvocationEncoder() -> InvocationEncoder { PipeInvocationEncoder() }

  // MARK: Calls

  public func remoteCall<Act: DistributedActor, Err: Error, Res: Codable>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type,
    returning: Res.Type
  ) async throws -> Res where Act.ID == ActorID {
    let data = try await call(actor.id, target, invocation)
    return try JSONDecoder().decode(Res.self, from: data)
  }

  public func remoteCallVoid<Act: DistributedActor, Err: Error>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder, throwing: Err.Type
  ) async throws where Act.ID == ActorID {
    _ = try await call(actor.id, target, invocation)
  }

  private func call(_ id: ActorID, _ target: RemoteCallTarget, _ invocation: InvocationEncoder) async throws -> Data {
    let number = state.withLock { state in
      state.calls += 1
      return state.calls
    }
    let frame = PipeFrame(
      kind: .call, number: number,
      parts: [
        Data(id.name.utf8), Data(target.identifier.utf8), Data(invocation.substitutions.joined(separator: " ").utf8),
      ]
        + invocation.arguments)
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let refusal = state.withLock { state -> (any Error)? in
          if state.isCut { return PipeError.cut }
          if state.cancelled.contains(number) { return CancellationError() }
          state.pending[number] = continuation
          return nil
        }
        if let refusal { return continuation.resume(throwing: refusal) }
        send(frame)
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.cancelled.insert(number)
        return state.pending.removeValue(forKey: number)
      }
      waiting?.resume(throwing: CancellationError())
    }
  }

  /// The number of calls that wait for an answer.
  public var pendingCount: Int { state.withLock { $0.pending.count } }

  /// Cuts the pipes: waiting calls throw an error.
  public func cut() {
    let pending = state.withLock { state in
      state.isCut = true
      defer { state.pending = [:] }
      return state.pending
    }
    for continuation in pending.values { continuation.resume(throwing: PipeError.cut) }
  }

  // MARK: Frames

  private func send(_ frame: PipeFrame) {
    faults.pass(frame, .outgoing) { frame in
      self.writer.async {
        if self.state.withLock({ $0.isCut }) { return }
        if !frame.write(to: self.output) { self.cut() }
      }
    }
  }

  private func readFrames() {
    while let frame = PipeFrame.read(from: input) {
      faults.pass(frame, .incoming) { self.take($0) }
    }
    cut()
    ended.signal()
  }

  private func take(_ frame: PipeFrame) {
    switch frame.kind {
    case .call: Task { await execute(frame) }
    case .answer, .failure:
      let waiting = state.withLock { $0.pending.removeValue(forKey: frame.number) }
      guard let waiting else { return }
      let data = frame.parts.first ?? Data()
      if frame.kind == .answer {
        waiting.resume(returning: data)
      } else {
        waiting.resume(throwing: PipeError.remote(String(decoding: data, as: UTF8.self)))
      }
    }
  }

  private func execute(_ frame: PipeFrame) async {
    let handler = PipeResultHandler { kind, data in
      self.send(PipeFrame(kind: kind, number: frame.number, parts: [data]))
    }
    do {
      guard frame.parts.count >= 3 else { throw PipeError.remote("a short frame") }
      let name = String(decoding: frame.parts[0], as: UTF8.self)
      guard let actor = state.withLock({ $0.actors[PipeActorID(name)]?.actor }) else {
        throw PipeError.noSuchActor(name)
      }
      var decoder = PipeInvocationDecoder(
        substitutions: String(decoding: frame.parts[2], as: UTF8.self).split(separator: " ").map(String.init),
        arguments: Array(frame.parts.dropFirst(3)))
      try await executeDistributedTarget(
        on: actor, target: RemoteCallTarget(String(decoding: frame.parts[1], as: UTF8.self)),
        invocationDecoder: &decoder, handler: handler)
    } catch {
      handler.send(.failure, Data("\(error)".utf8))
    }
  }
}

public struct PipeInvocationEncoder: DistributedTargetInvocationEncoder {
  public typealias SerializationRequirement = any Codable
  var arguments: [Data] = []
  var substitutions: [String] = []

  /// An endpoint is generic in its engine, so this engine is its method's generic argument.
  public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
    guard type == PipeActorSystem.self else { throw PipeError.remote("a generic argument \(type)") }
    substitutions.append("PipeActorSystem")
  }
  public mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
    arguments.append(try JSONEncoder().encode(argument.value))
  }
  public mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}
  public mutating func recordReturnType<R: Codable>(_ type: R.Type) throws {}
  public mutating func doneRecording() throws {}
}

public struct PipeInvocationDecoder: DistributedTargetInvocationDecoder {
  public typealias SerializationRequirement = any Codable
  let substitutions: [String]
  let arguments: [Data]
  var next = 0

  init(substitutions: [String], arguments: [Data]) { (self.substitutions, self.arguments) = (substitutions, arguments) }

  public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] {
    try substitutions.map { name in
      guard name == "PipeActorSystem" else { throw PipeError.remote("a generic argument \(name)") }
      return PipeActorSystem.self
    }
  }
  public mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
    guard next < arguments.count else { throw PipeError.remote("too few arguments") }
    defer { next += 1 }
    return try JSONDecoder().decode(Argument.self, from: arguments[next])
  }
  public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }
  public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}

public struct PipeResultHandler: DistributedTargetInvocationResultHandler {
  public typealias SerializationRequirement = any Codable
  let send: @Sendable (PipeFrame.Kind, Data) -> Void

  init(_ send: @escaping @Sendable (PipeFrame.Kind, Data) -> Void) { self.send = send }

  public func onReturn<Success: Codable>(value: Success) async throws { send(.answer, try JSONEncoder().encode(value)) }
  public func onReturnVoid() async throws { send(.answer, Data()) }
  public func onThrow<Err: Error>(error: Err) async throws { send(.failure, Data("\(error)".utf8)) }
}
