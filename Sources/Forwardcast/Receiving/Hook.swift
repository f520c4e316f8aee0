// Hook.swift: code that runs around messages, whatever its types.

import Synchronization

/// A message as its hooks see it.
@usableFromInline
struct HookedMessage {
  @usableFromInline let selector: MessageSelector
  /// Whom errors name: the proxy, or the receiver whose method is called.
  @usableFromInline let receiver: AnyObject
  @usableFromInline let arguments: MessageArguments
  /// Who pays for the message.
  var budget: MessageBudget?

  func with(_ arguments: MessageArguments) -> HookedMessage {
    HookedMessage(selector: selector, receiver: receiver, arguments: arguments, budget: budget)
  }

  /// The message by boxes.
  var invocation: Invocation {
    var invocation = arguments.invocation(selector)
    invocation.result = nil
    return invocation
  }
}

/// One hook of a proxy or a table. Its body is the user's closure behind one that opens arguments and answers.
final class Hook: Sendable {
  /// Runs what stands inside of an `around` hook.
  typealias Rest = (MessageArguments) throws -> MessageAnswers
  typealias WaitingRest = nonisolated(nonsending) (MessageArguments) async throws -> MessageAnswers
  typealias AroundBody = @Sendable (HookTurn) throws -> MessageAnswers
  typealias WaitingAroundBody = nonisolated(nonsending) @Sendable (WaitingHookTurn) async throws -> MessageAnswers

  enum Body: Sendable {
    case before(@Sendable (HookedMessage) throws -> Void)
    case after(@Sendable (HookedMessage, MessageAnswers) throws -> Void)
    /// Where one form is missing, messages whose sender waits, or those whose sender does not, are refused.
    case around(AroundBody?, waiting: WaitingAroundBody?)
  }

  /// The messages that the hook is for; `nil` for all.
  let selector: MessageSelector?
  let body: Body
  private let cancelled = Atomic<Bool>(false)

  init(_ selector: MessageSelector?, _ body: Body) { (self.selector, self.body) = (selector, body) }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Keeps the hook from running again, also around messages that are on their way and have not reached it.
  func cancel() { cancelled.store(true, ordering: .releasing) }

  func isFor(_ selector: MessageSelector) -> Bool { self.selector == nil || self.selector == selector }
}

/// A hook's place in a proxy or a table; cancels it.
///
/// Releasing the handle cancels nothing.
public final class HookRegistration: Sendable {
  /// The messages that the hook is for; `nil` when it is for all.
  public let selector: MessageSelector?
  private weak let hook: Hook?
  private let remove: @Sendable (Hook) -> Void

  /// - Parameter remove: takes the hook out of its place, which releases it. It keeps the place weakly.
  init(_ hook: Hook, remove: @escaping @Sendable (Hook) -> Void) {
    (self.hook, selector, self.remove) = (hook, hook.selector, remove)
  }

  /// Takes the hook away: it does not begin to run any more, and what it captured is released once it does not run.
  /// Cancelling twice is harmless.
  public func cancel() {
    guard let hook else { return }
    hook.cancel()
    remove(hook)
  }

  /// Whether the hook was cancelled, or that around which it ran is gone.
  public var isCancelled: Bool { hook?.isCancelled ?? true }
}

extension HookRegistration: CustomStringConvertible {
  /// What the hook is for: `hook around title:, cancelled`.
  public var description: String {
    "hook around \(selector?.name ?? "every message")" + (isCancelled ? ", cancelled" : "")
  }
}
