// RemoteReceiver.swift: one receiver of another process, on this side.
// Layer: Remote. See DESIGN.md, "Other processes".

import Dispatch
public import Distributed
public import Forwardcast

/// A receiver that stands for one in another process.
///
///     let door = try MessageEndpoint<ClusterSystem>.resolve(id: id, using: system)
///     let counter = try await RemoteReceiver(connectingTo: door, name: "counter")
///     let sum = try await counter.sendAndWait(.add, 5)
///     room.add(remote: counter)                       // a target like any other: see `add(remote:)`
///
/// It answers only those who wait: `sendAndWait`, `performAndWait`, and the waiting forms of a multicast among whose targets it
/// is. A synchronous `send` throws `isolationMismatch`.
///
/// **Promises.** Messages of one remote receiver reach the endpoint one at a time, in the order in which they were called; each
/// runs at most once; each ends by its deadline in an answer or in an error, and where the answer is lost the error says
/// `unknown whether it arrived`. Cancelling ends the wait, not the message. What waits is bounded here by
/// ``RemoteOptions/waitingCalls`` and in a multicast by its `DeliveryBuffer`. Who wants calls at the same time connects several.
public final class RemoteReceiver: MessageForwarding, SuspendingForwarding, NamedReceiver, Sendable {
  /// No row: every message goes to the other side.
  public static let selectorTable = SelectorTable(for: RemoteReceiver.self, rows: [])

  /// What errors call the other side.
  public var name: String { line.peer }
  /// How long a message may take.
  public var deadline: Duration { options.deadline }

  let line: RemoteLine
  let queue: DispatchQueue
  private let options: RemoteOptions
  /// The endpoint's name for the line.
  private let lineName: String
  /// What the endpoint lets through, and the types of what it answered when it was asked. By name: a name from another
  /// process is not interned.
  private let messages: [String: MethodSignature?]

  /// Connects to an endpoint, which says what it lets through and answers.
  ///
  /// - Parameters:
  ///   - endpoint: the endpoint, as the engine has found it.
  ///   - name: what errors call it; its identity in the engine where none is given.
  ///   - options: deadlines, bounds, and types of answers.
  /// - Throws: ``RemoteError``, when it does not answer by the deadline, speaks another version, or what it says cannot be
  ///   read; `CancellationError`.
  nonisolated(nonsending) public convenience init<ActorSystem>(
    connectingTo endpoint: MessageEndpoint<ActorSystem>, name: String? = nil, options: RemoteOptions = RemoteOptions()
  ) async throws where ActorSystem: DistributedActorSystem<any Codable>, ActorSystem.ActorID: Codable {
    let line = RemoteLine(name ?? "\(endpoint.id)", options) { try await endpoint.receive($0) }
    try await self.init(line, options)
  }

  nonisolated(nonsending) init(_ line: RemoteLine, _ options: RemoteOptions) async throws {
    guard
      case .opened(let lineName, let listed) = try await line.question(WireRequest.openText, "", options)
    else { throw line.error(.malformedAnswer, .unknown, "", "wanted a line") }
    var messages: [String: MethodSignature?] = [:]
    for (name, types) in listed {
      do { messages[name] = .some(try types.map(MethodSignature.init)) } catch {
        throw line.error(.malformedAnswer, .didNotRun, name, "its types: \(error)")
      }
    }
    (self.line, self.options, self.lineName, self.messages) = (line, options, lineName, messages)
    queue = DispatchQueue(label: "forwardcast.remote.\(line.peer)")
  }

  private init(_ other: RemoteReceiver, _ options: RemoteOptions) {
    (line, queue, lineName, messages) = (other.line, other.queue, other.lineName, other.messages)
    self.options = options
  }

  /// The same receiver with another deadline: messages of both share one order.
  public func with(deadline: Duration) -> RemoteReceiver {
    var options = options
    options.deadline = deadline
    return RemoteReceiver(self, options)
  }

  // MARK: Presence

  /// Whether the other side counts as gone: nothing is sent to it any more. One that comes back is a new endpoint, to
  /// connect to anew.
  public var isGone: Bool { line.isGone }

  /// Says that the other side has gone, as an engine that watches its members knows.
  ///
  /// Calls under way end with `gone`, `unknown whether it arrived`; calls that wait end with `gone`; registrations that end with the
  /// peer are cancelled.
  ///
  /// - Parameter reason: what errors say of it.
  public func end(_ reason: String) { line.end(reason) }

  // MARK: Questions

  /// Whether the other side answers a selector: see ``RemoteOptions/Questions``.
  public func responds(to selector: MessageSelector) -> Bool {
    guard let types = messages[selector.name] else { return false }
    return options.questions == .askedEachTime || types != nil
  }

  /// Asks the other side whether it answers a selector now.
  ///
  /// - Throws: ``RemoteError``, `CancellationError`.
  nonisolated(nonsending) public func respondsNow(to selector: MessageSelector) async throws -> Bool {
    guard case .told(let answers) = try await line.question(WireRequest.askText(selector), selector.name, options)
    else { throw line.error(.malformedAnswer, .unknown, selector.name, "wanted yes or no") }
    return answers
  }

  /// The types that the endpoint stated; objects throughout where it is asked with each message.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    guard let types = messages[selector.name] else { return nil }
    if options.questions == .askedEachTime { return .objects(arguments: selector.numberOfArguments) }
    return types
  }

  /// Everything that the endpoint lets through, sorted by name.
  public var allowedNames: [String] { messages.keys.sorted() }

  /// "remote" and the name.
  public var receiverName: String { "remote \(name)" }

  // MARK: Messages

  /// Another process cannot answer in the sender's turn.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    throw MessageError(
      .isolationMismatch, receiver: receiverName, selector: invocation.selector.name,
      evidence: "it answers from another process: wait for it, or give it a delivery with add(remote:)")
  }

  /// Sends a message to the other side and waits for its answer.
  ///
  /// - Throws: the `MessageError` of the other side; ``RemoteError``; `CancellationError`, when it is unknown whether the
  ///   message arrived.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    let selector = invocation.selector
    let arguments: [UInt8]
    do throws(WireValueError) { arguments = try WireRequest.arguments(of: invocation) } catch {
      throw line.error(.cannotCross, .didNotRun, selector.name, "\(error)")
    }
    let result = try await call(selector, arguments)
    return DeliveryReport(answeredBy: self, result)
  }

  nonisolated(nonsending) private func call(_ selector: MessageSelector, _ arguments: [UInt8]) async throws
    -> ArgumentBox?
  {
    let deadline = Deadline(after: options.deadline)
    try Task.checkCancellation()
    try await line.enter(selector.name, by: deadline, in: options.deadline)
    defer { line.leave() }
    try Task.checkCancellation()
    let number = line.nextNumber()
    let text = WireRequest.callText(selector, arguments, line: lineName, number: number)
    switch try await line.reply(to: text, selector.name, by: deadline, options) {
    case .answer(number, let answer): return answer
    case .unreadable(number, let reason): throw line.error(.cannotCross, .ran, selector.name, reason)
    case .messageError(number, let error): throw error
    case .foreignError(number, let type, let text):
      throw RemoteError(
        .foreignError, .ran, peer: name, selector: selector.name, evidence: text, foreignType: type)
    case .refused(_, let refusal): throw line.error(refusal, selector.name)
    default: throw line.error(.malformedAnswer, .unknown, selector.name, "the answer of another message")
    }
  }
}

extension RemoteReceiver: CustomStringConvertible {
  /// What it stands for: `remote counter, 3 messages`.
  public var description: String {
    "remote \(name), \(messages.count) message\(messages.count == 1 ? "" : "s")\(isGone ? ", gone" : "")"
  }
}

extension RemoteLine {
  /// Sends a request that belongs to no line, and gives the reply.
  nonisolated(nonsending) func question(_ text: String, _ selector: String, _ options: RemoteOptions) async throws
    -> WireReply
  {
    try Task.checkCancellation()
    if isGone { throw error(.gone, .didNotRun, selector, goneReason) }
    let reply = try await reply(
      to: text, selector, by: Deadline(after: options.deadline), options)
    if case .refused(_, let refusal) = reply { throw error(refusal, selector) }
    return reply
  }

  /// Sends a text and reads what comes back.
  nonisolated(nonsending) func reply(
    to text: String, _ selector: String, by deadline: Deadline, _ options: RemoteOptions
  ) async throws -> WireReply {
    switch try await send(text, selector, by: deadline) {
    case .reply(let envelope):
      note(answered: true)
      do throws(WireRefusal) {
        return try WireReply.read(envelope.text, options.limits, types: options.types)
      } catch {
        throw self.error(.malformedAnswer, .unknown, selector, "\(error.code.rawValue): \(error.evidence)")
      }
    case .failed(let evidence):
      note(answered: false)
      throw error(.connectionFailed, .unknown, selector, evidence)
    case .late:
      note(answered: false)
      throw error(.timedOut, .unknown, selector, "no answer in \(options.deadline)")
    case .cancelled: throw CancellationError()
    case .gone: throw error(.gone, .unknown, selector, goneReason)
    }
  }

  /// The error for what an endpoint refused; ends the line where the endpoint does not know it.
  func error(_ refusal: WireRefusal, _ selector: String) -> RemoteError {
    let code: RemoteError.Code
    var outcome = RemoteError.Outcome.didNotRun
    switch refusal.code {
    case .unknownLine:
      end(refusal.evidence)
      code = .gone
    case .busy: code = .busy
    case .answerNotKept: (code, outcome) = (.malformedAnswer, .unknown)
    case .answerCannotCross: (code, outcome) = (.cannotCross, .ran)
    case .unknownVersion, .malformed, .tooLarge, .superseded, .ahead, .notAllowed, .wrongArgumentCount,
      .unreadableArgument:
      code = .refused
    }
    return error(code, outcome, selector, refusal.evidence, argument: refusal.argumentIndex)
  }
}
