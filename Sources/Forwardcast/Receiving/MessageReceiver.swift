// MessageReceiver.swift: objects that answer from a table, and objects that forward.

/// An object that answers messages from a selector table.
///
/// Most receivers need one line: a `static let` table. A subclass overrides a `class var` of its superclass with a
/// table that inherits the superclass's.
///
/// A member that a class left to its default cannot be overridden further down: Swift looks no further than the class
/// that adopts the protocol. Such a base class declares the member, `class func resolveMethod(for:)` for example; where
/// that cannot be changed, the subclass adopts ``MethodResolving`` or ``ObjectTableOwning`` for itself.
public protocol MessageReceiver: AnyObject {
  /// The table of the class. Give the same table each time: it is asked for whenever a route is made.
  static var selectorTable: SelectorTable { get }

  /// The table of this one object, searched before its class's; `nil`, the default, where it has none.
  ///
  /// Change the table, not the property: a table's changes are noticed everywhere, another table is not.
  var objectTable: SelectorTable? { get }

  /// The last chance of a class to add a method to its table: called when neither object nor class has one for
  /// `selector`, once for each class and selector. `true` says that a method was added; where none was, each message of
  /// the selector ends in ``MessageError`` `resolverAddedNothing`. The default adds nothing.
  ///
  /// It runs on the thread of the first sender; others who ask for the same wait for it. A thread that would wait for itself,
  /// over however many other hooks and services under construction, gets ``MessageError`` `wouldDeadlock` naming them all.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

extension MessageReceiver {
  /// None: the class's table alone.
  public var objectTable: SelectorTable? { nil }
  public static func resolveMethod(for selector: MessageSelector) -> Bool {
    selectorTable.storage.resolvesNothing.note(ObjectIdentifier(self))
    return false
  }
}

/// A class with a resolver hook of its own below a receiver class that left ``MessageReceiver/resolveMethod(for:)`` to its
/// default.
///
///     // no hook:
///     class Document: MessageReceiver { class var selectorTable: SelectorTable { … } }
///     final class Letter: Document, MethodResolving {
///       // is asked for letters:
///       static func resolveMethod(for selector: MessageSelector) -> Bool { … }
///     }
///
/// It comes before that of ``MessageReceiver`` and is asked in the same way.
public protocol MethodResolving: AnyObject {
  /// As ``MessageReceiver/resolveMethod(for:)``.
  static func resolveMethod(for selector: MessageSelector) -> Bool
}

/// A class whose objects have tables of their own, below a receiver class that left ``MessageReceiver/objectTable`` to its
/// default.
///
/// It is asked where the default gave `nil`.
public protocol ObjectTableOwning: AnyObject {
  /// As ``MessageReceiver/objectTable``.
  var objectTable: SelectorTable? { get }
}

/// A receiver whose answers can change: a proxy, or an object with hooks of its own.
///
/// Nothing that it says is remembered: every message asks again, in the order table, resolver, forwarding target,
/// signature and forwarding, not recognized.
public protocol MessageForwarding: MessageReceiver {
  /// Whether a message of `selector` would be answered, by a table or by forwarding.
  ///
  /// The default follows the steps of a send: a method in a table, else what the forwarding target says, else whether
  /// ``methodSignature(for:)`` gives types. A proxy that forwards needs only that hook and ``forward(_:)``.
  func responds(to selector: MessageSelector) -> Bool

  /// The types of a message that the object would forward; `nil` says that it does not forward it.
  func methodSignature(for selector: MessageSelector) -> MethodSignature?

  /// Another receiver for the message, asked before any invocation is made; `nil` or the object itself says no.
  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)?

  /// Handles a message that no table answers, and leaves the answer in `invocation.result`.
  ///
  /// Called only after ``methodSignature(for:)`` gave a signature. `invocation.signature` is that one; there are as many
  /// arguments as it says, converted to its types, and the answer is converted to its return type or refused.
  @discardableResult
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport

  /// Handles a message that no table answers, for a sender that waits: as ``forward(_:)``, but it may suspend.
  ///
  /// The default forwards in the caller's turn. An object that sends the message on overrides this with the waiting
  /// form of its send, so that methods that suspend, and targets on contexts of their own, are waited for.
  ///
  /// - Returns: what became of the message, and in ``DeliveryReport/result`` its answer.
  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport

  /// The error for a message that nothing answers. The default is `unrecognizedSelector`.
  func doesNotRecognize(_ selector: MessageSelector) -> any Error
}

extension MessageForwarding {
  /// Follows the steps of a send.
  public func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }
  /// The types of a method in the object's tables; nothing else is forwarded.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    (try? tableMethod(of: self, for: selector))?.signature
  }
  public func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }
  /// Passes nothing on.
  ///
  /// - Throws: what ``MessageForwarding/doesNotRecognize(_:)`` gives.
  @discardableResult
  public func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    throw doesNotRecognize(invocation.selector)
  }
  /// Forwards in the caller's turn.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try forwardInTurn(invocation)
  }
  /// `unrecognizedSelector`.
  public func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.unrecognized(selector, by: self)
  }

  /// The report of ``forward(_:)``, with the invocation's result among its answers where the hook left it out.
  package func forwardInTurn(_ invocation: Invocation) throws -> DeliveryReport {
    var invocation = invocation
    var report = try forward(&invocation)
    if report.answers.isEmpty, report.failures.isEmpty, let result = invocation.result {
      report.answers.append(.init(target: self, result: result))
    }
    return report
  }

  func defaultResponds(to selector: MessageSelector) -> Bool {
    // The steps of a send, so that both say the same. A hook may ask this very question: then nobody has answered yet.
    ProxyQuestion.ask(self, selector, otherwise: false) {
      switch try? follow(selector, from: self, past: self).resolution {
      case .method: true
      case .forward(let hooks, _): hooks === self || hooks.responds(to: selector)
      case nil: false
      }
    }
  }
}

/// A receiver whose forwarding has to suspend, since what it stands for is in another process.
///
/// On a context of its own it is given ``MessageForwarding/forwardAndWait(_:)``, and its next message waits for the end of
/// that one, as with a method that suspends. Its ``MessageForwarding/forward(_:)`` says that it cannot answer in turn.
package protocol SuspendingForwarding: MessageForwarding {}

/// A receiver whose ``MessageForwarding/methodSignature(for:)`` comes from one of several targets, each of which checks the
/// arguments for itself.
package protocol ForwardingToMany: MessageForwarding {
  /// Tells failures that no sender gets to whom the receiver tells errors of a broadcast.
  func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector)
}

extension ForwardingToMany {
  /// No methods of its own: every message is forwarded.
  package static var selectorTable: SelectorTable { noMethods }

  /// One that stands for a single receiver throws whatever fails.
  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {}
}

let noMethods = SelectorTable(for: (any MessageForwarding).self, rows: [])

/// Whether `receiver` would answer `selector`: a table decides, or the receiver's own hooks.
@inline(never) package func answers(_ receiver: AnyObject, _ selector: MessageSelector) -> Bool {
  if let forwarding = receiver as? any MessageForwarding { return forwarding.responds(to: selector) }
  guard let receiver = receiver as? any MessageReceiver else { return false }
  return (try? tableMethod(of: receiver, for: selector)) != nil
}

/// The types of what `receiver` would answer to `selector`.
package func signature(of receiver: AnyObject, _ selector: MessageSelector) -> MethodSignature? {
  guard let receiver = receiver as? any MessageReceiver else { return nil }
  if let method = try? tableMethod(of: receiver, for: selector) { return method.signature }
  return (receiver as? any MessageForwarding)?.methodSignature(for: selector)
}

extension MessageReceiver {
  /// Whether a message of `selector` would be answered.
  ///
  /// An object that forwards answers for itself: see ``MessageForwarding/responds(to:)``.
  public func responds(to selector: MessageSelector) -> Bool { answers(self, selector) }

  /// Return and argument types of the method that would answer `selector`, or `nil` where none would.
  public func methodSignature(for selector: MessageSelector) -> MethodSignature? { signature(of: self, selector) }
}

/// Questions that travel from proxy to proxy, so that a ring of proxies ends in an answer.
package enum ProxyQuestion {
  @TaskLocal fileprivate static var asked: ProxyTrail?
  /// The message that is being sent, and the proxies that it came through.
  @TaskLocal private static var routed: (selector: MessageSelector, trail: ProxyTrail)?

  /// Runs `body` unless `proxy` is being asked after `selector` already further up, or the stack has no room for another
  /// proxy; then the answer is `otherwise`.
  package static func ask<T>(_ proxy: AnyObject, _ selector: MessageSelector, otherwise: T, _ body: () -> T) -> T {
    guard StackGuard.hasRoom else { return otherwise }
    let trail = asked
    if let trail, trail.contains(proxy, selector) { return otherwise }
    do { try (trail?.budget ?? routed?.trail.budget)?.charge(.question) } catch { return otherwise }
    let here = ProxyTrail(proxy, selector, after: trail)
    defer { here.end() }
    return $asked.withValue(here) { body() }
  }

  /// Asks whether `receiver` takes a message that is on its way.
  ///
  /// A proxy that the message came through says yes: it would get the message, and find the cycle.
  package static func takes(_ receiver: any MessageForwarding, _ message: Invocation) -> Bool {
    guard let trail = message.route else { return receiver.responds(to: message.selector) }
    return $routed.withValue((message.selector, trail)) {
      receiver.responds(to: message.selector)
    }
  }

  /// Charges for what a message is led through, or a proxy looks through for it, where no message says who pays.
  ///
  /// - Throws: why the message is not to go on.
  static func charge(_ item: MessageBudget.Item, _ count: Int = 1) throws { try asked?.budget?.charge(item, count) }

  /// Whether a message of `selector` that came through `proxy` is what the question is about.
  package static func isOnItsWay(_ selector: MessageSelector, through proxy: AnyObject) -> Bool {
    guard let routed, routed.selector == selector else { return false }
    return routed.trail.contains(proxy)
  }
}

extension MessageBudget {
  /// Charges the budget for the questions that `body` asks, and for the forwarding objects that its sends are led through.
  package func charging<T>(_ body: () throws -> T) rethrows -> T {
    try ProxyQuestion.$asked.withValue(ProxyTrail(self, after: ProxyQuestion.asked), operation: body)
  }
}

/// A receiver that is nothing but a table of closures, with no class behind it.
///
///     let bell = BareReceiver {
///       Responds(to: "ring:") { (_: BareReceiver, times: Int) in
///         print("ding", times)
///       }
///     }
public final class BareReceiver: MessageReceiver, Sendable {
  /// Empty: each receiver has a table of its own.
  public static let selectorTable = SelectorTable(for: BareReceiver.self, rows: [])
  private let table: SelectorTable

  /// A receiver that answers from `table`, which other receivers may use as well.
  public init(table: SelectorTable) { self.table = table }

  /// A receiver with a table of its own.
  /// - Parameter rows: one after another, with `if` and `for` where needed.
  public convenience init(@SelectorTableBuilder<BareReceiver> _ rows: () -> [Responds<BareReceiver>]) {
    self.init(table: SelectorTable(for: BareReceiver.self, rows))
  }

  /// The table that the receiver was made with.
  public var objectTable: SelectorTable? { table }
}
