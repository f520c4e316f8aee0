// ClosureTarget.swift: closures that are targets, and what is checked before each call.

import Synchronization

/// A closure that is a target, in a form that every module calls alike.
///
/// A proxy that is not `Sendable` stays in one isolation, and its closures with it.
@frozen @usableFromInline
struct MessageClosure<R, each A> {
  @usableFromInline let call: (repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping (repeat each A) throws -> R) { self.call = call }
}

/// A closure that knows its actor. A struct, because a function type over a pack cannot be passed on.
@frozen @usableFromInline
struct IsolatedClosure<R, each A> {
  @usableFromInline let call: @isolated(any) (repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping @isolated(any) (repeat each A) throws -> R) { self.call = call }

  /// The closure for callers that make sure that they are on its actor. The bit cast is sound because
  /// closures are called alike whether or not their types carry an isolation.
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

/// What is checked before each call of a closure that is a target.
@usableFromInline
final class ClosureLimits: Sendable {
  private let selector: MessageSelector
  /// The actor that calls must be on.
  private let actor: (any Actor)?
  private let isOnce: Bool
  private let isSpent = Atomic<Bool>(false)
  /// Ends the registration, once there is one.
  private let cancel = Guarded<(@Sendable () -> Void)?>(nil)

  private init(_ selector: MessageSelector, once: Bool, on actor: (any Actor)?) {
    (self.selector, isOnce, self.actor) = (selector, once, actor)
  }

  /// The limits of a closure that runs in its sender's isolation or on its own actor; `nil` without any.
  @usableFromInline
  static func of(_ selector: MessageSelector, once: Bool) -> ClosureLimits? {
    once ? ClosureLimits(selector, once: true, on: nil) : nil
  }

  /// The limits of a closure that stays in its proxy's isolation, that of the caller. A closure of another actor, or of the main
  /// one, checks each call: generic code does not know that a proxy is `Sendable`, and could send the closure away.
  @usableFromInline
  static func of(_ selector: MessageSelector, once: Bool, on actor: (any Actor)?, in isolation: (any Actor)?)
    -> ClosureLimits?
  {
    let isChecked = actor.map { $0 === MainActor.shared || $0 !== isolation } ?? false
    return once || isChecked ? ClosureLimits(selector, once: once, on: isChecked ? actor : nil) : nil
  }

  /// Whether the closure runs. The first message ends the registration of one that is for a single message; `false` for messages
  /// that begin meanwhile on other threads.
  ///
  /// - Throws: `isolationMismatch` if the caller is not on the actor.
  @usableFromInline @inline(never)
  func begin() throws -> Bool {
    if let actor {
      let isolation = MethodIsolation(actor)
      guard isolation.isHeld(of: actor) else { throw error(.isolationMismatch, isolation.evidence) }
    }
    guard isOnce else { return true }
    guard !isSpent.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    cancel.withLock { $0 }?()
    return true
  }

  /// The answer of a call that does not run the closure: nothing.
  ///
  /// - Throws: `nobodyResponds` where an answer is wanted.
  @usableFromInline
  func nothing<R>() throws -> R {
    if let nothing = () as? R { return nothing }
    throw error(.nobodyResponds, "it was registered for one message, which came at the same moment")
  }

  private func error(_ code: MessageError.Code, _ evidence: String) -> MessageError {
    MessageError(code, receiver: "closure for \(selector)", selector: selector.name, evidence: evidence)
  }

  /// Sets how the registration is ended, and ends it now if the message has come.
  func end(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel.withLock { $0 = cancel }
    if isSpent.load(ordering: .acquiring) { cancel() }
  }
}
