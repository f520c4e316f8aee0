// MessageEndpoint.swift: one receiver that other processes may send to.
// Layer: Endpoint. See DESIGN.md, "Other processes".

public import Distributed
public import Forwardcast

/// One receiver, or one proxy, that other processes may send to.
///
///     let door = MessageEndpoint(room, for: RoomProxy.table, actorSystem: system)
///     await system.receptionist.checkIn(door, with: .rooms)          // as the engine has it
///
/// It is a distributed actor of whatever engine it is made for: an engine is a `DistributedActorSystem` whose
/// serialization requirement is `any Codable`. A sender finds it as that engine lets actors be found, and holds a
/// ``RemoteReceiver`` for it.
///
/// An endpoint lets through the selectors that it was made with, and no other. Arguments are of the standard types and of
/// those that it was told; nothing else is made of what arrives. The messages of one sender run in the order in which
/// they were sent, one at a time, each at most once. What runs in the sender's turn in a process of its own runs on the
/// endpoint here; rows with an isolation, and targets with a delivery, run where they belong and are waited for.
public distributed actor MessageEndpoint<ActorSystem>: Codable
where ActorSystem: DistributedActorSystem<any Codable>, ActorSystem.ActorID: Codable {
  private let receiver: any MessageReceiver & Sendable
  private let allowed: [String: MessageSelector]
  private let allowedSelectors: Set<MessageSelector>
  private let types: InvocationTypes
  private let limits: MessageLimits
  private let lines: EndpointLines

  /// Makes a receiver reachable for some messages.
  ///
  /// - Parameters:
  ///   - receiver: who gets the messages; the endpoint keeps it.
  ///   - selectors: those that may come. A key's is its `selector`.
  ///   - types: what arguments may be besides the standard types.
  ///   - limits: how large a message may be.
  ///   - actorSystem: the engine.
  public init(
    _ receiver: any MessageReceiver & Sendable, allowing selectors: [MessageSelector],
    types: InvocationTypes = InvocationTypes([:]), limits: MessageLimits = MessageLimits(), actorSystem: ActorSystem
  ) {
    self.actorSystem = actorSystem
    self.receiver = receiver
    allowedSelectors = Set(selectors)
    allowed = Dictionary(selectors.map { ($0.name, $0) }) { first, _ in first }
    self.types = types
    self.limits = limits
    lines = EndpointLines(limits)
  }

  /// Makes a receiver reachable for the messages of a table, such as that of a protocol: `RoomProxy.table`.
  ///
  /// What is added to the table later is not let through.
  ///
  /// - Parameters:
  ///   - receiver: who gets the messages; the endpoint keeps it.
  ///   - table: whose selectors may come, inherited ones too.
  ///   - types: what arguments may be besides the standard types.
  ///   - limits: how large a message may be.
  ///   - actorSystem: the engine.
  public init(
    _ receiver: any MessageReceiver & Sendable, for table: SelectorTable,
    types: InvocationTypes = InvocationTypes([:]), limits: MessageLimits = MessageLimits(), actorSystem: ActorSystem
  ) {
    self.init(receiver, allowing: table.selectors, types: types, limits: limits, actorSystem: actorSystem)
  }

  /// Takes what a ``RemoteReceiver`` sends. Not for calls by hand: see DESIGN.md, "The wire".
  public distributed func receive(_ envelope: MessageEnvelope) async -> MessageEnvelope {
    switch reading(envelope) {
    case .failure(let refusal): return answer(.refused(number: nil, refusal))
    case .success(.open):
      guard let line = lines.open() else {
        return answer(.refused(number: nil, WireRefusal(.busy, "all of \(limits.lines) lines are in use")))
      }
      return answer(.opened(line: "\(line)", messages: messages))
    case .success(.ask(let name)):
      return answer(.told(allowed[name].map { receiver.responds(to: $0) } ?? false))
    case .success(.call(let call)): return await take(call)
    }
  }

  private func reading(_ envelope: MessageEnvelope) -> Result<WireRequest, WireRefusal> {
    do throws(WireRefusal) { return .success(try WireRequest.read(envelope.text, limits)) } catch {
      return .failure(error)
    }
  }

  /// What is let through, with the types of what is answered at present.
  private var messages: [(name: String, signature: String?)] {
    allowed.values.sorted { $0.name < $1.name }.map { selector in
      let types = receiver.responds(to: selector) ? receiver.methodSignature(for: selector) : nil
      return (selector.name, types?.description)
    }
  }

  /// Runs a message when it is the turn of its line; gives a message that came before the answer that it had.
  private func take(_ call: WireCall) async -> MessageEnvelope {
    func refused(_ code: WireRefusal.Code, _ evidence: String) -> MessageEnvelope {
      answer(.refused(number: call.number, WireRefusal(code, evidence)))
    }
    guard let line = lines.line(named: call.line) else {
      return refused(.unknownLine, "the endpoint has no such line: it is another one, or has closed the line")
    }
    switch line.take(call.number) {
    case .superseded: return refused(.superseded, "message \(call.number) comes after \(line.last)")
    case .ahead: return refused(.ahead, "message \(call.number) comes after \(line.last)")
    case .repeated:
      guard let kept = await line.answerOfLast(atMost: limits.waiting) else {
        return refused(.answerNotKept, "the message came twice, and its answer is not kept")
      }
      return kept
    case .next(let mustWait):
      let envelope: MessageEnvelope
      if mustWait, line.waitingCount >= limits.waiting {
        envelope = refused(.busy, "\(limits.waiting) messages of the line wait for one that runs")
      } else {
        if mustWait { await line.waitForTurn() }
        envelope = await run(call)
        line.endTurn()
      }
      lines.keep(envelope, for: call.number, on: line)
      return envelope
    }
  }

  private func run(_ call: WireCall) async -> MessageEnvelope {
    guard let selector = allowed[call.selector] else {
      let refusal = WireRefusal(.notAllowed, "the endpoint does not let it through")
      return answer(.refused(number: call.number, refusal))
    }
    var invocation: Invocation
    do throws(WireRefusal) {
      invocation = try call.open(as: selector, types: types, allowed: allowedSelectors)
    } catch {
      return answer(.refused(number: call.number, error))
    }
    do {
      try await receiver.performAndWait(&invocation)
      return answer(.answer(number: call.number, invocation.result))
    } catch let error as MessageError {
      return answer(.messageError(number: call.number, error))
    } catch let error as RemoteError {
      // The receiver is, or sent to, another process: the words of that error say more than its type's name.
      return answer(.foreignError(number: call.number, type: "RemoteError", text: "\(error)"))
    } catch {
      return answer(.foreignError(number: call.number, type: "\(type(of: error))", text: "\(error)"))
    }
  }

  /// A reply as it crosses. One that cannot says so instead.
  private func answer(_ reply: WireReply) -> MessageEnvelope {
    let reason: String
    do throws(WireValueError) {
      let text = try reply.text()
      if text.utf8.count <= limits.bytes { return MessageEnvelope(text: text) }
      reason = "\(text.utf8.count) bytes of at most \(limits.bytes)"
    } catch {
      reason = "\(error)"
    }
    let refusal = WireReply.refused(number: reply.number, WireRefusal(.answerCannotCross, reason))
    return MessageEnvelope(text: (try? refusal.text()) ?? "")
  }
}
