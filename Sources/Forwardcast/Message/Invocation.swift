// Invocation.swift: selector, signature, boxes and result of one message; sends nothing.

import Synchronization

/// One message as a value: what is said, with what, and, once it was answered, the answer.
///
/// Copying an invocation copies its boxes, so no target sees another's writes and nothing is shared between
/// queues. An invocation may be rewritten before it is sent, sent again, and pointed at another selector of an
/// equal signature.
///
///     var call = Invocation(
///       "onAddMsg:msgData:", arguments: [.init("alice"), .init([1, 2])])
///     print(call)                        // onAddMsg: "alice" msgData: [1, 2]
///     try screen.perform(&call)
///     let added = try call.result?.unbox(as: Bool.self)
public struct Invocation {
  /// The name of the message. `retarget(to:)` changes it.
  public private(set) var selector: MessageSelector

  /// Types as the sender states them, or `nil` when it leaves them to the method that answers.
  package var statedSignature: MethodSignature?

  /// The sender's own arguments, from 0. What the encoding numbers 0 and 1, receiver and selector, is not among them.
  public var arguments: [ArgumentBox]

  /// The answer; `nil` until something answered, and again after a call that failed. A method that returns nothing
  /// leaves a box of `Void`.
  public var result: ArgumentBox?

  /// The proxies that this message has come through, so that a cycle of proxies is found and not followed.
  package var route: ProxyTrail?

  /// The message without its result, and without where it has been.
  package var asSent: Invocation {
    var message = self
    (message.result, message.route) = (nil, nil)
    return message
  }

  /// Makes a message.
  ///
  /// The number of arguments and their types are checked where the message is sent, so that text from outside becomes
  /// an error there and never a trap here.
  ///
  /// - Parameters:
  ///   - selector: the name of the message.
  ///   - signature: return and argument types; `nil` leaves every type to the method that answers.
  ///   - arguments: the sender's own, in order; one for each colon of `selector`.
  public init(_ selector: MessageSelector, signature: MethodSignature? = nil, arguments: [ArgumentBox] = []) {
    self.selector = selector
    self.statedSignature = signature
    self.arguments = arguments
  }

  /// Return and argument types: as stated, or objects throughout (`@@:@…`) where the sender stated none.
  public var signature: MethodSignature {
    statedSignature ?? .objects(arguments: selector.numberOfArguments)
  }

  /// Whether the sender stated types of its own.
  package var hasStatedSignature: Bool { statedSignature != nil }

  /// The argument at `index`, counted from 0, as `T`.
  ///
  /// - Parameters:
  ///   - index: counted from 0, as the sender counts.
  ///   - type: what the value is to become: see ``ArgumentBox/unbox(as:)``.
  /// - Precondition: `index` is one of ``arguments``.
  /// - Throws: ``UnboxingError``.
  public func argument<T>(_ index: Int, as type: T.Type = T.self) throws(UnboxingError) -> T {
    precondition(arguments.indices.contains(index), "argument \(index) of \(arguments.count)")
    return try arguments[index].unbox(as: type)
  }

  /// Points the message at another selector whose methods take as many arguments, and forgets the result.
  ///
  /// Stated types stay as they are: the methods that answer the other selector are to have an equal signature.
  ///
  /// - Parameter other: a selector with as many colons.
  /// - Throws: ``MessageError`` `wrongArgumentCount` when the colons differ; the message is then as it was.
  public mutating func retarget(to other: MessageSelector) throws(MessageError) {
    guard other.numberOfArguments == selector.numberOfArguments else {
      throw .argumentCount(other, receiver: "Invocation", found: selector.numberOfArguments)
    }
    selector = other
    result = nil
    route = route?.budget.map { ProxyTrail($0, after: nil) }
  }
}

extension Invocation: CustomStringConvertible {
  /// The message as a call reads: `onAddMsg: "alice" msgData: [1, 2]`. Arguments for which the selector has no colon
  /// stand at the end: `ping (beyond its colons: 1)`.
  public var description: String {
    let count = selector.numberOfArguments
    var words: [String] = []
    if count == 0 { words.append(selector.name) }
    for (index, part) in selector.parts.prefix(count).enumerated() {
      words.append(part + ":")
      if index < arguments.count { words.append(arguments[index].description) }
    }
    if arguments.count > count {
      words.append("(beyond its colons: \(arguments[count...].map(\.description).joined(separator: ", ")))")
    }
    return words.joined(separator: " ")
  }
}

/// The proxies a message, or a question, has come through, last first.
///
/// A trail is good while its last proxy is at work with the message. A copy of the message that somebody keeps and sends
/// again later begins anew.
package final class ProxyTrail: Sendable {
  /// `nil` where a trail begins that only says who pays.
  private let proxy: ObjectIdentifier?
  private let selector: MessageSelector?
  private let earlier: ProxyTrail?
  private let ended = Atomic<Bool>(false)
  /// Who pays for the message, also after the trail has ended.
  package let budget: MessageBudget?

  package init(_ proxy: AnyObject, _ selector: MessageSelector? = nil, after earlier: ProxyTrail?) {
    self.proxy = ObjectIdentifier(proxy)
    self.selector = selector
    self.earlier = earlier.flatMap { $0.hasEnded ? nil : $0 }
    budget = earlier?.budget
  }

  /// The same trail for a message that somebody pays for.
  package init(_ budget: MessageBudget, after earlier: ProxyTrail?) {
    (proxy, selector, self.budget) = (nil, nil, budget)
    self.earlier = earlier.flatMap { $0.hasEnded ? nil : $0 }
  }

  /// Says that the last proxy is done with the message.
  package func end() { ended.store(true, ordering: .releasing) }

  private var hasEnded: Bool { ended.load(ordering: .acquiring) }

  /// Whether the message, or the question after `selector`, has been in `proxy` before.
  @inline(never) package func contains(_ proxy: AnyObject, _ selector: MessageSelector? = nil) -> Bool {
    if hasEnded { return false }
    var step: ProxyTrail? = self
    while let here = step {
      if here.proxy == ObjectIdentifier(proxy), here.selector == selector { return true }
      step = here.earlier
    }
    return false
  }
}
