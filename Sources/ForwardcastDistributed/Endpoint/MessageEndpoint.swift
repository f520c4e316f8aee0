// MessageEndpoint.swift: makes a receiver reachable from other processes.

public import Distributed
public import Forwardcast

/// Makes a receiver or a proxy reachable from other processes.
///
///     let door = MessageEndpoint(room, for: RoomProxy.table, actorSystem: system)
///     await system.receptionist.checkIn(door, with: .rooms)  // or as your engine does
///
/// The *engine* is any `DistributedActorSystem` whose `SerializationRequirement` is `any Codable`.
/// Senders discover the endpoint through the engine, and send with a ``RemoteReceiver``.
///
/// An endpoint accepts only the selectors that it was created with, and decodes only arguments of
/// the standard types and the types stated at creation. Messages of one sender run in the order of
/// sending, one at a time, each at most once. Synchronous methods run on the endpoint. Isolated
/// methods, and targets with a delivery, run in their own isolation, and the endpoint waits for
/// them.
public distributed actor MessageEndpoint<ActorSystem> where ActorSystem: DistributedActorSystem<any Codable> {
  private let receiver: any MessageReceiver & Sendable
  private let allowed: [WireName: MessageSelector]
  private let allowedSelectors: Set<MessageSelector>
  private let types: KnownTypes
  private let limits: MessageLimits
  private let caller: @Sendable () -> String?
  private let lines: EndpointLines
  private var closed: String?

  /// Makes a receiver reachable for a list of selectors.
  ///
  /// - Parameters:
  ///   - receiver: the receiver. The endpoint holds it strongly.
  ///   - selectors: the accepted selectors. A message key has its selector in `selector`.
  ///   - types: the types of arguments besides the standard types.
  ///   - limits: the limits of messages and memory.
  ///   - caller: identifies the caller, for example by a task-local value that the engine sets.
  ///     Other identified callers cannot use the *line* that orders the caller's messages.
  ///     If `caller` returns `nil`, the endpoint trusts the names that senders state.
  ///   - actorSystem: the engine.
  public init(
    _ receiver: any MessageReceiver & Sendable, allowing selectors: [MessageSelector],
    types: KnownTypes = KnownTypes([:]), limits: MessageLimits = MessageLimits(),
    caller: @escaping @Sendable () -> String? = { nil }, actorSystem: ActorSystem
  ) {
    self.actorSystem = actorSystem
    self.receiver = receiver
    allowedSelectors = Set(selectors)
    allowed = Dictionary(selectors.map { (WireName($0.name), $0) }) { first, _ in first }
    self.types = types
    (self.limits, self.caller) = (limits.bounded, caller)
    lines = EndpointLines(self.limits)
  }

  /// Makes a receiver reachable for the messages of a table, such as `RoomProxy.table`.
  ///
  /// Inherited selectors are accepted as well. Methods that are added to the table later are not
  /// accepted. Otherwise as ``init(_:allowing:types:limits:caller:actorSystem:)``.
  public init(
    _ receiver: any MessageReceiver & Sendable, for table: SelectorTable,
    types: KnownTypes = KnownTypes([:]), limits: MessageLimits = MessageLimits(),
    caller: @escaping @Sendable () -> String? = { nil }, actorSystem: ActorSystem
  ) {
    self.init(
      receiver, allowing: table.selectors, types: types, limits: limits, caller: caller, actorSystem: actorSystem)
  }

  /// Closes the endpoint, for example when the process shuts down. Senders get the reason at once.
  ///
  /// The running message completes, and waiting messages do not run. The call has an effect only in
  /// the process that created the endpoint.
  nonisolated public func close(_ reason: String) async {
    await whenLocal { endpoint in
      guard endpoint.closed == nil else { return }
      endpoint.closed = reason
      endpoint.lines.dropHeld()
    }
  }

  /// Handles a request of a ``RemoteReceiver``. Not meant for other callers: see <doc:TheWire>.
  public distributed func receive(_ text: String) async -> String {
    var (number, tag): (Int?, Int?)
    do throws(WireRefusal) {
      let message = try WireFields.read(text, limits)
      tag = message.tag
      let request = try WireRequest.read(message)
      number = request.number
      if let closed { throw WireRefusal(.closed, closed) }
      switch request {
      case .open(let sender):
        guard let line = lines.open(for: owner ?? sender) else {
          throw WireRefusal(.busy, "all \(limits.lines) lines are in use, as many as MessageLimits.lines allows")
        }
        return answer(.opened(line: "\(line)", window: limits.waiting, messages: messages), tag)
      case .ask(let name): return answer(.told(allowed[name].map { receiver.responds(to: $0) } ?? false), tag)
      case .await(let name, let number, let awaited):
        let line = try? lines.find(name, number, for: owner)
        return answer(.told(line?.keepOnly(awaited, upTo: number) ?? false), tag)
      case .call(let call): return try await take(call, tag)
      }
    } catch {
      return answer(.refused(number: number, error), tag, number)
    }
  }

  private var owner: WireName? { caller().map(WireName.init) }

  /// The accepted selectors, each with its types if the receiver responds at present.
  private var messages: [(name: String, signature: String?)] {
    allowed.values.sorted { $0.name < $1.name }.map { selector in
      let types = receiver.responds(to: selector) ? receiver.methodSignature(for: selector) : nil
      return (selector.name, types?.description)
    }
  }

  /// Runs a message in the order of its line. A repeated message gets the first answer.
  private func take(_ call: WireCall, _ tag: Int?) async throws(WireRefusal) -> String {
    let line = try lines.find(call.line, call.number, for: owner)
    let (message, isSecond) = try line.place(call)
    if isSecond {
      if let kept = await line.answer(to: call, of: message) { return kept }
      throw WireRefusal(.answerNotKept, "the message was received twice, and its answer was not kept")
    }
    if !line.begins(message) {
      watch(line)
      guard await line.turn(of: message) else {
        if let closed { throw WireRefusal(.closed, closed) }
        if line.isClosed {
          throw WireRefusal(.unknownLine, "the endpoint closed the line because MessageLimits.lines was reached")
        }
        throw WireRefusal(.superseded, "the sender no longer awaits message \(call.number)")
      }
    }
    let answer = answer(await run(call), tag, call.number)
    line.end(message, with: answer)
    watch(line)
    return answer
  }

  /// Starts the first waiting message of a line when the patience of the message has passed, even
  /// if earlier messages are missing.
  private func watch(_ line: EndpointLine) {
    guard let patience = line.patience, patience < line.watch?.wakesAt ?? .never else { return }
    line.watch?.task.cancel()
    let task = Task { [weak self, name = line.name] in
      do { try await patience.sleep() } catch { return }
      await self?.whenLocal { endpoint in
        guard let line = endpoint.lines.find(name) else { return }
        line.watch = nil
        line.goOn()
        endpoint.watch(line)
      }
    }
    line.watch = (patience, task)
  }

  private func run(_ call: WireCall) async -> WireReply {
    do {
      guard let selector = allowed[call.selector] else {
        throw WireRefusal(.notAllowed, "the endpoint does not accept it; add it to the selectors of the endpoint")
      }
      var invocation = try call.open(as: selector, types: types, allowed: allowedSelectors)
      try await receiver.performAndWait(&invocation)
      return .answer(number: call.number, invocation.result)
    } catch let refusal as WireRefusal {
      return .refused(number: call.number, refusal)
    } catch let error as MessageError {
      return .messageError(number: call.number, error)
    } catch {
      return .foreignError(number: call.number, type: "\(type(of: error))", text: "\(error)")
    }
  }

  /// The text of a reply, or of a refusal if the reply cannot be encoded or is too large. If a
  /// refusal is too large, its evidence is shortened.
  private func answer(_ reply: WireReply, _ tag: Int?, _ number: Int? = nil) -> String {
    let refusal: WireRefusal
    do throws(WireValueError) {
      let text = try reply.text(tag)
      if text.utf8.count <= limits.bytes { return text }
      let tooLarge = WireRefusal(
        .answerCannotCross, "the answer has \(text.utf8.count) bytes, more than the limit of \(limits.bytes)")
      refusal = if case .refused(_, let long) = reply { long } else { tooLarge }
    } catch {
      refusal = WireRefusal(.answerCannotCross, "\(error)")
    }
    func text(_ evidence: String) -> String {
      let refusal = WireRefusal(refusal.code, evidence, argumentIndex: refusal.argumentIndex)
      return (try? WireReply.refused(number: number, refusal).text(tag)) ?? ""
    }
    let (whole, evidence) = (text(refusal.evidence), cut(refusal.evidence))
    let excess = whole.utf8.count - limits.bytes
    return excess > 0 ? text(cut(evidence, to: evidence.utf8.count - excess)) : whole
  }
}

/// With `Codable` identities, an endpoint is encoded as its identity.
extension MessageEndpoint: Codable where ActorSystem.ActorID: Codable {}
