// Hook.swift: code that runs around messages of any types.

import Synchronization

@usableFromInline
struct HookedMessage {
  @usableFromInline let selector: MessageSelector
  /// The receiver named in errors: the proxy or, for a table's hook, the method's receiver.
  @usableFromInline let receiver: AnyObject
  @usableFromInline let arguments: MessageArguments
  var budget: MessageBudget?
  /// True if `proceed` might return without the answers of some targets, because the sender does
  /// not wait for queued targets or ignores errors.
  var mayMissAnswers = false
  /// Makes a probe of the answers, see `DeliveryRequest.makeProbe`. If it is not `nil`, `proceed`
  /// might not call the targets after the answer that suffices.
  var makeProbe: (() -> (ArgumentBox) -> Bool)?
  /// True for a hook of a proxy, false for a table's hook.
  var isOfProxy = false

  func with(_ arguments: MessageArguments) -> HookedMessage {
    HookedMessage(
      selector: selector, receiver: receiver, arguments: arguments, budget: budget, mayMissAnswers: mayMissAnswers,
      makeProbe: makeProbe, isOfProxy: isOfProxy)
  }

  var invocation: Invocation {
    var invocation = arguments.invocation(selector)
    invocation.result = nil
    return invocation
  }
}

/// One hook of a proxy or table. Its body converts arguments and answers for the user's closure.
final class Hook: @unchecked Sendable {  // `number` is guarded by the lock of the proxy or table that has the hook
  /// Runs the hooks inside an `around` hook, then the message.
  typealias Rest = (MessageArguments) throws -> MessageAnswers
  typealias WaitingRest = nonisolated(nonsending) (MessageArguments) async throws -> MessageAnswers
  typealias AroundBody = @Sendable (HookTurn) throws -> MessageAnswers
  typealias WaitingAroundBody = nonisolated(nonsending) @Sendable (WaitingHookTurn) async throws -> MessageAnswers

  enum Body: Sendable {
    case before(@Sendable (HookedMessage) throws -> Void)
    case after(@Sendable (HookedMessage, MessageAnswers) throws -> Void)
    /// Without `waiting`, waiting senders use the first form. Without the first form, messages of
    /// other senders fail. A ready-made hook has a name, such as `retrying`.
    case around(AroundBody?, waiting: WaitingAroundBody?, name: String? = nil)
  }

  let selector: MessageSelector?
  let body: Body
  /// Ends the stream that the hook feeds. The stream's buffered messages can still be read.
  let finish: (@Sendable () -> Void)?
  var number = 0
  private let cancelled = Atomic<Bool>(false)

  init(_ selector: MessageSelector?, _ body: Body, finish: (@Sendable () -> Void)? = nil) {
    (self.selector, self.body, self.finish) = (selector, body, finish)
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

  /// Prevents further runs, even by messages that are being delivered.
  func cancel() { cancelled.store(true, ordering: .releasing) }

  func isFor(_ selector: MessageSelector) -> Bool { self.selector == nil || self.selector == selector }
}

/// A handle that cancels a hook. Releasing the handle does not cancel the hook.
public final class HookRegistration: Sendable {
  /// The hook's selector; `nil` if the hook runs for all messages.
  public let selector: MessageSelector?
  private weak let hook: Hook?
  private let remove: @Sendable (Hook) -> Void

  /// - Parameter remove: removes the hook from its proxy or table. Retains neither proxy nor table.
  init(_ hook: Hook, remove: @escaping @Sendable (Hook) -> Void) {
    (self.hook, selector, self.remove) = (hook, hook.selector, remove)
  }

  /// Removes the hook, so it does not start again. Its captures are released after its current run.
  public func cancel() {
    guard let hook else { return }
    hook.cancel()
    remove(hook)
  }

  /// True if the hook was canceled, or its proxy or table was deallocated.
  public var isCancelled: Bool { hook?.isCancelled ?? true }
}

extension HookRegistration: CustomStringConvertible {
  /// For example `hook around title:, canceled`.
  public var description: String {
    "hook around \(selector?.name ?? "every message")" + (isCancelled ? ", canceled" : "")
  }
}
