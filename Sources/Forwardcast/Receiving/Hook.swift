// Hook.swift: code that runs around messages, of any types.

import Synchronization

@usableFromInline
struct HookedMessage {
  @usableFromInline let selector: MessageSelector
  /// Whom errors name: the proxy, or the receiver whose method is called.
  @usableFromInline let receiver: AnyObject
  @usableFromInline let arguments: MessageArguments
  /// What the message's cost is charged to.
  var budget: MessageBudget?

  func with(_ arguments: MessageArguments) -> HookedMessage {
    HookedMessage(selector: selector, receiver: receiver, arguments: arguments, budget: budget)
  }

  /// The message in boxes, without a result.
  var invocation: Invocation {
    var invocation = arguments.invocation(selector)
    invocation.result = nil
    return invocation
  }
}

/// One hook of a proxy or table. Its body wraps the user's closure: it unpacks arguments and packs answers.
final class Hook: @unchecked Sendable {  // `number` is guarded by the lock of the proxy or table that has the hook
  /// Runs what an `around` hook surrounds.
  typealias Rest = (MessageArguments) throws -> MessageAnswers
  typealias WaitingRest = nonisolated(nonsending) (MessageArguments) async throws -> MessageAnswers
  typealias AroundBody = @Sendable (HookTurn) throws -> MessageAnswers
  typealias WaitingAroundBody = nonisolated(nonsending) @Sendable (WaitingHookTurn) async throws -> MessageAnswers

  enum Body: Sendable {
    case before(@Sendable (HookedMessage) throws -> Void)
    case after(@Sendable (HookedMessage, MessageAnswers) throws -> Void)
    /// A missing form refuses messages whose sender waits, or those whose sender does not.
    case around(AroundBody?, waiting: WaitingAroundBody?)
  }

  let selector: MessageSelector?
  let body: Body
  /// Ends the stream whose hook it is; what is in its buffer can still be taken.
  let finish: (@Sendable () -> Void)?
  /// The hook's number in the queue of its proxy or table.
  var number = 0
  private let cancelled = Atomic<Bool>(false)

  init(_ selector: MessageSelector?, _ body: Body, finish: (@Sendable () -> Void)? = nil) {
    (self.selector, self.body, self.finish) = (selector, body, finish)
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Keeps the hook from running again, also for messages on their way that have not reached it.
  func cancel() { cancelled.store(true, ordering: .releasing) }

  func isFor(_ selector: MessageSelector) -> Bool { self.selector == nil || self.selector == selector }
}

/// A handle that cancels a hook; releasing it cancels nothing.
public final class HookRegistration: Sendable {
  /// The selector that the hook is for; `nil` for all.
  public let selector: MessageSelector?
  private weak let hook: Hook?
  private let remove: @Sendable (Hook) -> Void

  /// - Parameter remove: takes the hook out of its proxy or table, which it holds weakly.
  init(_ hook: Hook, remove: @escaping @Sendable (Hook) -> Void) {
    (self.hook, selector, self.remove) = (hook, hook.selector, remove)
  }

  /// Takes the hook away: it does not start again, and its captures are released once it has ended. May be called repeatedly.
  public func cancel() {
    guard let hook else { return }
    hook.cancel()
    remove(hook)
  }

  /// Whether the hook was cancelled, or its proxy or table is gone.
  public var isCancelled: Bool { hook?.isCancelled ?? true }
}

extension HookRegistration: CustomStringConvertible {
  /// For example `hook around title:, cancelled`.
  public var description: String {
    "hook around \(selector?.name ?? "every message")" + (isCancelled ? ", cancelled" : "")
  }
}
