// RemoteReceiver.swift: sends to a receiver in another process.

import Dispatch
public import Distributed
public import Forwardcast

/// Represents a receiver in another process.
///
///     let door = try MessageEndpoint<ClusterSystem>.resolve(id: id, using: system)
///     let counter = try await RemoteReceiver(connectingTo: door, name: "counter")
///     let sum = try await counter.sendAndWait(.add, 5)
///     room.add(remote: counter)  // a target like any other: see `add(remote:)`
///
/// A remote receiver answers only waiting senders: `sendAndWait`, `performAndWait`, and the waiting
/// methods of a multicast proxy that has it as a target. A synchronous `send` throws
/// `isolationMismatch`.
///
/// Messages of one remote receiver run in the order of their calls, one at a time, each at most
/// once, and end by their deadline: see *What Is Guaranteed* in <doc:OtherProcesses>. To run
/// messages concurrently, connect several receivers.
public final class RemoteReceiver: MessageForwarding, SuspendingForwarding, NamedReceiver, Sendable {
  /// Empty, because every message is sent to the other side.
  public static let selectorTable = SelectorTable(for: RemoteReceiver.self, rows: [])

  /// The name of the other side in errors.
  public var name: String { line.peer }
  /// The time limit of a message.
  public let deadline: Duration

  /// The `ActorSystem.ActorID` of the endpoint. In some actor systems, a process that restarts at
  /// the same address gets another identity.
  public let endpointID: any Hashable & Sendable

  let line: RemoteLine
  let queue: DispatchQueue

  /// Connects to an endpoint and queries its selectors. `name` is the endpoint's name in errors, by
  /// default its identity.
  /// - Throws: ``RemoteError`` if the endpoint does not answer by the deadline, has another
  ///   version, or sends an answer that cannot be read; `CancellationError`.
  nonisolated(nonsending) public convenience init<ActorSystem>(
    connectingTo endpoint: MessageEndpoint<ActorSystem>, name: String? = nil, options: RemoteOptions = RemoteOptions()
  ) async throws where ActorSystem: DistributedActorSystem<any Codable> {
    let isLocal = (try? endpoint.actorSystem.resolve(id: endpoint.id, as: MessageEndpoint<ActorSystem>.self)) != nil
    let line = RemoteLine(name ?? "\(endpoint.id)", options, isLocal: isLocal) { text, deadline in
      guard let engineTimeout = options.engineTimeout else { return try await endpoint.receive(text) }
      return try await engineTimeout(deadline.remaining) { try await endpoint.receive(text) }
    }
    try await self.init(line, endpoint.id)
  }

  nonisolated(nonsending) init(_ line: RemoteLine, _ id: any Hashable & Sendable) async throws {
    try await line.open()
    (self.line, endpointID, deadline) = (line, id, line.options.deadline)
    queue = DispatchQueue(label: "forwardcast.remote.\(line.peer)")
  }

  private init(_ other: RemoteReceiver, deadline: Duration) {
    (line, endpointID, queue, self.deadline) = (other.line, other.endpointID, other.queue, deadline)
  }

  /// The same receiver with another deadline. Messages of both receivers run in one common order.
  public func with(deadline: Duration) -> RemoteReceiver { RemoteReceiver(self, deadline: deadline) }

  // MARK: Presence

  /// Whether the other side is reachable: see *Handle Lost Processes* in <doc:OtherProcesses>.
  public var presence: RemotePresence { line.presence }

  /// The current presence and each later presence. The stream ends with the receiver, and after
  /// ``RemotePresence/ended(_:)``.
  public var presences: AsyncStream<RemotePresence> { line.presences }

  /// True if the other side is not connected, so that messages are not sent.
  public var isGone: Bool { presence != .connected }

  /// The number of replies that the engine delivered to the wrong call. Such replies are ignored,
  /// and the calls that got them end as ``RemoteError/Code/malformedAnswer``.
  public var misdeliveredReplies: Int { line.state.withLock { $0.mismatches } }

  /// If the other side was lost, reconnects to the endpoint with the same identity in the engine.
  /// - Throws: ``RemoteError``, with the code `gone` after ``end(_:)``; `CancellationError`.
  nonisolated(nonsending) public func reconnect() async throws { if isGone { try await line.open() } }

  /// Declares that the other side has ended, for example when the engine's node monitor reports it.
  /// Calls end with `gone` and the reason; it is unknown whether calls in flight arrived.
  /// Registrations are canceled unless their `whenGone` is `fails`.
  public func end(_ reason: String) { line.lose(reason, forGood: true) }

  // MARK: Questions

  /// Whether the other side responds to a selector: see ``RemoteOptions/Questions``.
  public func responds(to selector: MessageSelector) -> Bool {
    guard let types = line.messages[WireName(selector.name)] else { return false }
    return line.options.questions == .askedEachTime || types != nil
  }

  /// Queries whether the other side responds to a selector now.
  /// - Throws: ``RemoteError``, `CancellationError`.
  nonisolated(nonsending) public func respondsNow(to selector: MessageSelector) async throws -> Bool {
    let call = OutgoingCall(selector.name, .ask(selector), within: deadline)
    guard case .told(let answers) = try await line.send(call) else {
      throw line.error(.malformedAnswer, .unknown, selector.name, "the reply is neither yes nor no")
    }
    return answers
  }

  /// The types that the endpoint stated. With ``RemoteOptions/Questions/askedEachTime``, all types
  /// are object types.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    guard let types = line.messages[WireName(selector.name)] else { return nil }
    if line.options.questions == .askedEachTime { return .objects(arguments: selector.numberOfArguments) }
    return types
  }

  /// The selectors that the endpoint accepts, sorted by name.
  public var allowedNames: [String] { line.messages.keys.sorted().map(\.text) }

  public var receiverName: String { "remote \(name)" }

  // MARK: Messages

  /// Throws, because another process cannot answer synchronously.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    throw MessageError(
      .isolationMismatch, receiver: receiverName, selector: invocation.selector.name,
      evidence: "a synchronous send cannot wait for another process; call sendAndWait, or register the receiver with "
        + "add(remote:)")
  }

  /// Sends a message to the other side and waits for its answer.
  /// - Throws: the `MessageError` of the other side; ``RemoteError``; `CancellationError`, after
  ///   which it is unknown whether the message ran.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    let selector = invocation.selector
    let text: WireRequestText
    do throws(WireValueError) { text = try .call(invocation) } catch {
      throw line.error(.cannotCross, .didNotRun, selector.name, "\(error)")
    }
    switch try await line.send(OutgoingCall(selector.name, text, within: deadline, isMessage: true)) {
    case .answer(_, let answer): return DeliveryReport(answeredBy: self, answer)
    case .messageError(_, let error): throw error
    case .foreignError(_, let type, let text):
      throw RemoteError(.foreignError, .ran, peer: name, selector: selector.name, evidence: text, foreignType: type)
    case .opened, .told, .refused:
      throw line.error(.malformedAnswer, .unknown, selector.name, "the reply is not an answer to a message")
    }
  }
}

extension RemoteReceiver: CustomStringConvertible {
  /// `remote counter, 3 messages`.
  public var description: String {
    "remote \(name), \(allowedNames.count) message\(allowedNames.count == 1 ? "" : "s")\(isGone ? ", gone" : "")"
  }
}
