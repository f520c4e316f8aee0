// MessageEndpoint.swift: one receiver that other processes may send to.

public import Distributed
public import Forwardcast

/// One receiver, or one proxy, that other processes may send to.
///
///     let door = MessageEndpoint(room, for: RoomProxy.table, actorSystem: system)
///     await system.receptionist.checkIn(door, with: .rooms)  // as the engine has it
///
/// It is a distributed actor of whatever engine it is made for: an engine is a `DistributedActorSystem` whose
/// serialization requirement is `any Codable`. A sender finds it as that engine lets actors be found, and holds a
/// ``RemoteReceiver`` for it.
///
/// An endpoint lets through the selectors that it was made with, and no other. Arguments are of the standard types and of
/// those that it was told; nothing else is made of what arrives. The messages of one sender run in the order in which
/// they were sent, one at a time, each at most once. What runs in the sender's turn in a process of its own runs on the
/// endpoint here; rows with an isolation, and targets with a delivery, run where they belong and are waited for.
public distributed actor MessageEndpoint<ActorSystem>
where ActorSystem: DistributedActorSystem<any Codable> {
  private let receiver: any MessageReceiver & Sendable
  private let allowed: [WireName: MessageSelector]
  private let allowedSelectors: Set<MessageSelector>
  private let types: InvocationTypes
  private let limits: MessageLimits
  private let caller: @Sendable () -> String?
  private let lines: EndpointLines
  /// Why the endpoint takes nothing any more.
  private var closed: String?

  /// Makes a receiver reachable for some messages.
  ///
  /// - Parameters:
  ///   - receiver: who gets the messages; the endpoint keeps it.
  ///   - selectors: those that may come. A key's is its `selector`.
  ///   - types: what arguments may be besides the standard types.
  ///   - limits: how large a message may be.
  ///   - caller: names who calls, where the engine can tell, as from a task-local value: then nobody uses, or closes by opening
  ///     many, the lines of another. Without it an endpoint takes senders' own word for who they are.
  ///   - actorSystem: the engine.
  public init(
    _ receiver: any MessageReceiver & Sendable, allowing selectors: [MessageSelector],
    types: InvocationTypes = InvocationTypes([:]), limits: MessageLimits = MessageLimits(),
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

  /// Makes a receiver reachable for the messages of a table, such as that of a protocol: `RoomProxy.table`.
  ///
  /// Inherited selectors may come too; what is added to the table later is not let through. The rest is as with
  /// ``init(_:allowing:types:limits:caller:actorSystem:)``.
  public init(
    _ receiver: any MessageReceiver & Sendable, for table: SelectorTable,
    types: InvocationTypes = InvocationTypes([:]), limits: MessageLimits = MessageLimits(),
    caller: @escaping @Sendable () -> String? = { nil }, actorSystem: ActorSystem
  ) {
    self.init(
      receiver, allowing: table.selectors, types: types, limits: limits, caller: caller, actorSystem: actorSystem)
  }

  /// Takes nothing any more: senders are told at once, so that nobody waits for a deadline when a process leaves in order.
  ///
  /// What runs ends; what waits for its turn does not run. Only for the process that made the endpoint; at any other end of
  /// the engine it does nothing.
  ///
  /// - Parameter reason: what errors of senders say.
  nonisolated public func close(_ reason: String) async {
    await whenLocal { endpoint in
      guard endpoint.closed == nil else { return }
      endpoint.closed = reason
      endpoint.lines.dropHeld()
    }
  }

  /// Takes what a ``RemoteReceiver`` sends. Not for calls by hand: see <doc:TheWire>.
  public distributed func receive(_ text: String) async -> String {
    var number: Int?
    do throws(WireRefusal) {
      let request = try WireRequest.read(text, limits)
      number = request.number
      if let closed { throw WireRefusal(.closed, closed) }
      switch request {
      case .open(let sender):
        guard let line = lines.open(for: owner ?? sender) else {
          throw WireRefusal(.busy, "all of \(limits.lines) lines are in use")
        }
        return answer(.opened(line: "\(line)", window: limits.waiting, messages: messages))
      case .ask(let name): return answer(.told(allowed[name].map { receiver.responds(to: $0) } ?? false))
      case .await(let name, let number, let awaited):
        let line = try? lines.find(name, number, for: owner)
        return answer(.told(line?.keepOnly(awaited, upTo: number) ?? false))
      case .call(let call): return try await take(call)
      }
    } catch {
      return answer(.refused(number: number, error), number)
    }
  }

  private var owner: WireName? { caller().map(WireName.init) }

  /// What is let through, with the types of what is answered at present.
  private var messages: [(name: String, signature: String?)] {
    allowed.values.sorted { $0.name < $1.name }.map { selector in
      let types = receiver.responds(to: selector) ? receiver.methodSignature(for: selector) : nil
      return (selector.name, types?.description)
    }
  }

  /// Runs a message when it is the turn of its line; gives a message that came before the answer that it had.
  private func take(_ call: WireCall) async throws(WireRefusal) -> String {
    let line = try lines.find(call.line, call.number, for: owner)
    let (message, isSecond) = try line.place(call)
    if isSecond {
      if let kept = await line.answer(to: call, of: message) { return kept }
      throw WireRefusal(.answerNotKept, "the message came twice, and its answer is not kept")
    }
    if !line.begins(message) {
      watch(line)
      guard await line.turn(of: message) else {
        if let closed { throw WireRefusal(.closed, closed) }
        if line.isClosed { throw WireRefusal(.unknownLine, "the line was closed for another") }
        throw WireRefusal(.superseded, "its sender has stopped waiting for message \(call.number)")
      }
    }
    let answer = answer(await run(call), call.number)
    line.end(message, with: answer)
    watch(line)
    return answer
  }

  /// Sees to it that a message which waits for others that do not come begins in the end. One task serves a line.
  private func watch(_ line: EndpointLine) {
    guard !line.isWatched, let patience = line.patience, patience != .never else { return }
    line.isWatched = true
    Task { [weak self, name = line.name] in
      try? await patience.sleep()
      await self?.whenLocal { endpoint in
        guard let line = endpoint.lines.find(name) else { return }
        line.isWatched = false
        line.goOn()
        endpoint.watch(line)
      }
    }
  }

  private func run(_ call: WireCall) async -> WireReply {
    do {
      guard let selector = allowed[call.selector] else {
        throw WireRefusal(.notAllowed, "the endpoint does not let it through")
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

  /// A reply as it crosses. One that cannot says so instead.
  private func answer(_ reply: WireReply, _ number: Int? = nil) -> String {
    let reason: String
    do throws(WireValueError) {
      let text = try reply.text()
      if text.utf8.count <= limits.bytes { return text }
      reason = "\(text.utf8.count) bytes of at most \(limits.bytes)"
    } catch {
      reason = "\(error)"
    }
    let refusal = WireReply.refused(number: number, WireRefusal(.answerCannotCross, reason))
    return (try? refusal.text()) ?? ""
  }
}

/// Where the engine's identities are `Codable`, an endpoint crosses as its own.
extension MessageEndpoint: Codable where ActorSystem.ActorID: Codable {}
