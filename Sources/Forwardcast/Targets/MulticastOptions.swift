// MulticastOptions.swift: how a proxy treats duplicates, errors and messages without a responder.

/// How a multicast proxy treats duplicates, errors and messages without a responder.
public struct MulticastOptions: Sendable {
  /// The result of adding a target again with the same delivery.
  public enum Duplicates: Sendable {
    /// The target keeps its registration and gets no second one.
    case refused
    /// The target gets another registration and another call. Removing the target removes all of
    /// its registrations.
    case allowed
  }

  /// The result of a message that no live, unmuted target responds to.
  public enum NoResponder: Sendable {
    /// Only the summary or report shows that no target responded. `collect` returns its policy's
    /// empty value.
    case ignore
    /// `collect` and `forward` throw `nobodyResponds`; `broadcast` passes that error to `onError`.
    case `throw`
    /// Calls the closure, then continues as `ignore`.
    case handle(@Sendable (MessageSelector) -> Void)
  }

  /// Which targets still get the message after one threw.
  public enum Errors: Sendable {
    /// All remaining targets. Each error is recorded with its target.
    case collected
    /// No further target.
    case stopAtFirst
  }

  /// The treatment of targets that are added again.
  public var duplicates: Duplicates
  /// The treatment of messages without a responder.
  public var noResponder: NoResponder
  /// Which targets still get the message after one threw.
  public var errors: Errors
  /// How long a task created in a target's method waits for that target while the method runs.
  ///
  /// The library cannot know whether the method awaits the task (`async let`, a group). If it does,
  /// neither the method nor the task would end. So the wait throws `timedOut` after this time, by
  /// default 10 seconds. A wait in the method's own task throws `wouldDeadlock` immediately.
  public var deadlockTimeout: Duration

  /// The default options, except for the given values.
  public init(
    duplicates: Duplicates = .refused, noResponder: NoResponder = .ignore, errors: Errors = .collected,
    deadlockTimeout: Duration = .seconds(10)
  ) {
    (self.duplicates, self.noResponder, self.errors) = (duplicates, noResponder, errors)
    self.deadlockTimeout = deadlockTimeout
  }
}

// MARK: - Deprecated

extension MulticastOptions {
  /// The former name of ``NoResponder``.
  @available(*, deprecated, renamed: "NoResponder")
  public typealias Silence = NoResponder

  /// The former name of ``noResponder``.
  @available(*, deprecated, renamed: "noResponder")
  public var silence: NoResponder {
    get { noResponder }
    set { noResponder = newValue }
  }

  /// The former name of the initializer with `noResponder:`.
  @available(*, deprecated, renamed: "init(duplicates:noResponder:errors:deadlockTimeout:)")
  public init(
    duplicates: Duplicates = .refused, silence: NoResponder, errors: Errors = .collected,
    deadlockTimeout: Duration = .seconds(10)
  ) {
    self.init(duplicates: duplicates, noResponder: silence, errors: errors, deadlockTimeout: deadlockTimeout)
  }
}

extension MulticastOptions.NoResponder {
  /// The former name of ``ignore``.
  @available(*, deprecated, renamed: "ignore")
  public static var ignored: Self { .ignore }

  /// The former name of ``throw``.
  @available(*, deprecated, renamed: "throw")
  public static var thrown: Self { .throw }

  /// The former name of ``handle(_:)``.
  @available(*, deprecated, renamed: "handle(_:)")
  public static func handled(_ handler: @escaping @Sendable (MessageSelector) -> Void) -> Self { .handle(handler) }
}

/// Whether a proxy retains a target.
public enum Ownership: Sendable {
  /// Not retained. Once deallocated, a target is not called, and it is not in `targets` or `count`.
  case weak
  /// Retained until the registration is canceled.
  case strong
}
