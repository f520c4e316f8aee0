// Invocation.swift: one message as a value.

import Synchronization

/// One message as a value: selector, boxed arguments and, after an answer, the result.
///
/// Copying an invocation copies its boxes, so no target sees what another target writes to them.
/// Objects in boxes are shared. But if an object's class adopts ``ArgumentCopying``, each target on
/// another queue or actor gets its own copy.
///
///     var call = Invocation(
///       "onAddMsg:msgData:", arguments: [.init("alice"), .init([1, 2])])
///     print(call)  // onAddMsg: "alice" msgData: [1, 2]
///     try screen.perform(&call)
///     let added = try call.result?.unbox(as: Bool.self)
public struct Invocation {
  /// The selector; `retarget(to:)` changes it.
  public private(set) var selector: MessageSelector

  /// The types stated by the sender; `nil` to use the types of the answering method.
  package var statedSignature: MethodSignature?

  /// The arguments, without receiver and selector (numbers 0 and 1 in Objective-C encodings).
  public var arguments: [ArgumentBox]

  /// The result; `nil` before an answer or after an error. The result of a `Void` method is a box
  /// of `()`.
  public var result: ArgumentBox?

  /// The proxies that the message passed, for detecting cycles, and the message's budget.
  package var route: ProxyTrail?

  package var asSent: Invocation {
    var message = self
    (message.result, message.route) = (nil, nil)
    return message
  }

  /// Creates a message. Number and types of the arguments are checked when the message is sent.
  ///
  /// - Parameters:
  ///   - selector: the name of the message.
  ///   - signature: the types; `nil` means the types of the answering method.
  ///   - arguments: one argument for each colon of `selector`.
  public init(_ selector: MessageSelector, signature: MethodSignature? = nil, arguments: [ArgumentBox] = []) {
    self.selector = selector
    self.statedSignature = signature
    self.arguments = arguments
  }

  /// The stated types. Without stated types, the result and all arguments are objects, as in
  /// `@@:@`.
  public var signature: MethodSignature {
    statedSignature ?? .objects(arguments: selector.numberOfArguments)
  }

  package var hasStatedSignature: Bool { statedSignature != nil }

  /// The argument at `index`, unboxed as `T`, see ``ArgumentBox/unbox(as:)``.
  ///
  /// - Precondition: `index` is an index of ``arguments``.
  public func argument<T>(_ index: Int, as type: T.Type = T.self) throws(UnboxingError) -> T {
    precondition(
      arguments.indices.contains(index), "argument \(index) does not exist; the message has \(arguments.count)")
    return try arguments[index].unbox(as: type)
  }

  /// Changes the selector to a selector with the same number of colons. Drops the result.
  ///
  /// - Throws: ``MessageError`` `wrongArgumentCount` if the number of colons differs.
  public mutating func retarget(to other: MessageSelector) throws(MessageError) {
    guard other.numberOfArguments == selector.numberOfArguments else {
      throw .argumentCount(other, receiver: "Invocation", found: selector.numberOfArguments)
    }
    selector = other
    result = nil
    route = route?.budget.map { ProxyTrail(nil, budget: $0, after: nil) }
  }
}

extension Invocation: CustomStringConvertible {
  /// The message as a call: `onAddMsg: "alice" msgData: [1, 2]`. Excess arguments are at the end.
  public var description: String { text(\.description) }

  /// The message as a call whose arguments are described by `description(upTo:)`, for traces.
  package func description(upTo count: Int) -> String { text { $0.description(upTo: count) } }

  private func text(_ argument: (ArgumentBox) -> String) -> String {
    let count = selector.numberOfArguments
    var words: [String] = []
    if count == 0 { words.append(selector.name) }
    for (index, part) in selector.parts.prefix(count).enumerated() {
      words.append(part + ":")
      if index < arguments.count { words.append(argument(arguments[index])) }
    }
    if arguments.count > count {
      words.append("(beyond its colons: \(arguments[count...].map(argument).joined(separator: ", ")))")
    }
    return words.joined(separator: " ")
  }
}

/// The proxies that a message or query passed, most recent first. The trail ends when the most
/// recent proxy has finished the message. A copy of the message that is sent later starts a new
/// trail.
package final class ProxyTrail: Sendable {
  /// `nil` for an entry that only has a budget.
  private let proxy: ObjectIdentifier?
  private let selector: MessageSelector?
  private let earlier: ProxyTrail?
  private let ended = Atomic<Bool>(false)
  /// The message's budget, which remains after the trail has ended.
  package let budget: MessageBudget?

  /// An entry for a proxy. Without a proxy, the entry only gives the message a budget.
  package init(
    _ proxy: AnyObject?, _ selector: MessageSelector? = nil, budget: MessageBudget? = nil, after earlier: ProxyTrail?
  ) {
    self.proxy = proxy.map { ObjectIdentifier($0) }
    self.selector = selector
    self.earlier = earlier.flatMap { $0.hasEnded ? nil : $0 }
    self.budget = budget ?? earlier?.budget
  }

  package func end() { ended.store(true, ordering: .releasing) }

  private var hasEnded: Bool { ended.load(ordering: .acquiring) }

  /// True if the message, or the query for `selector`, has already passed `proxy`.
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
