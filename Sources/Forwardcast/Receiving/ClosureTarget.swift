// ClosureTarget.swift: closures as targets, and the checks before each call.

import Synchronization

/// A closure that is a target. If its proxy is not `Sendable`, the closure stays in one isolation.
@frozen @usableFromInline
struct MessageClosure<R, each A> {
  @usableFromInline let call: (repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping (repeat each A) throws -> R) { self.call = call }
}

/// A closure with its actor. A struct, since Swift cannot forward a closure that takes a pack.
@frozen @usableFromInline
struct IsolatedClosure<R, each A> {
  @usableFromInline let call: @isolated(any) (repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping @isolated(any) (repeat each A) throws -> R) { self.call = call }

  /// The closure, for callers on its actor. The bit cast is sound: an isolation in a closure's type
  /// does not change how the closure is called.
  @export(implementation) @inline(__always)
  var unchecked: MessageClosure<R, repeat each A> { unsafeBitCast(self, to: MessageClosure<R, repeat each A>.self) }
}

extension MessageClosure {
  @export(implementation) @inline(__always)
  func limited(by limits: ClosureLimits?) -> MessageClosure {
    guard let limits else { return self }
    return MessageClosure { (arguments: repeat each A) throws -> R in
      guard try limits.begin() else { return try limits.nothing() }
      return try call(repeat each arguments)
    }
  }
}

@usableFromInline
final class ClosureLimits: Sendable {
  private let selector: MessageSelector
  /// The actor that callers must be on.
  private let actor: (any Actor)?
  private let isOnce: Bool
  private let isSpent = Atomic<Bool>(false)
  /// Cancels the registration; `nil` until ``end(_:)`` sets it.
  private let cancel = Guarded<(@Sendable () -> Void)?>(nil)

  private init(_ selector: MessageSelector, once: Bool, on actor: (any Actor)?) {
    (self.selector, isOnce, self.actor) = (selector, once, actor)
  }

  /// The limits of a closure that is called in any isolation; `nil` if there are none.
  @usableFromInline
  static func of(_ selector: MessageSelector, once: Bool) -> ClosureLimits? {
    once ? ClosureLimits(selector, once: true, on: nil) : nil
  }

  /// Limits that check each call if the closure is on the main actor, or on an actor other than
  /// `isolation`. Without the check, generic code could send the proxy to another thread and call
  /// the closure there.
  @usableFromInline
  static func of(_ selector: MessageSelector, once: Bool, on actor: (any Actor)?, in isolation: (any Actor)?)
    -> ClosureLimits?
  {
    let isChecked = actor.map { $0 === MainActor.shared || $0 !== isolation } ?? false
    return once || isChecked ? ClosureLimits(selector, once: once, on: isChecked ? actor : nil) : nil
  }

  /// True if the closure may run. With `once`, true only for the first message. Throws
  /// `isolationMismatch` if the caller is not on the actor.
  @usableFromInline @inline(never)
  func begin() throws -> Bool {
    if let actor {
      let isolation = MethodIsolation(actor)
      guard isolation.isHeld(of: actor) else { throw error(.isolationMismatch, isolation.closureEvidence) }
    }
    guard isOnce else { return true }
    guard !isSpent.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    cancel.withLock { $0 }?()
    return true
  }

  /// The result if the closure does not run: `()`. If `R` is not `Void`, throws `nobodyResponds`.
  @usableFromInline
  func nothing<R>() throws -> R {
    if let nothing = () as? R { return nothing }
    throw error(.nobodyResponds, "the closure was registered with 'once' and has already received another message")
  }

  private func error(_ code: MessageError.Code, _ evidence: String) -> MessageError {
    MessageError(code, receiver: "closure for '\(selector)'", selector: selector.name, evidence: evidence)
  }

  /// Sets the function that ends the registration. Calls `cancel` if the message arrived earlier.
  func end(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel.withLock { $0 = cancel }
    if isSpent.load(ordering: .acquiring) { cancel() }
  }
}
