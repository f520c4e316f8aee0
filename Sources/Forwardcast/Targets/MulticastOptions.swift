// MulticastOptions.swift: how a proxy treats duplicates, silence and errors.

/// How a multicast proxy treats duplicates, silence and errors.
public struct MulticastOptions: Sendable {
  /// What happens when a target is added again with the same delivery.
  public enum Duplicates: Sendable {
    /// It keeps its registration.
    case refused
    /// It gets another registration: it is called once for each, and removing it removes all.
    case allowed
  }

  /// What happens when no live, unmuted target responds.
  public enum NoResponder: Sendable {
    /// Nothing; the summary or report says so, and `collect` gives its policy's empty value.
    case ignore
    /// `collect` and `forward` throw `nobodyResponds`; `broadcast`, which cannot, passes it to the error handler.
    case `throw`
    /// The closure is called; then the message counts as ignored.
    case handle(@Sendable (MessageSelector) -> Void)
  }

  /// What happens to later targets when one throws.
  public enum Errors: Sendable {
    /// They still get the message, and each error is kept with its target.
    case collected
    /// They do not get it.
    case stopAtFirst
  }

  /// What happens when a target is added again.
  public var duplicates: Duplicates
  /// What happens when nobody responds.
  public var noResponder: NoResponder
  /// What happens to later targets when one throws.
  public var errors: Errors
  /// How long a task that was made in a target's method waits for that target while the method runs; by default 10 seconds.
  ///
  /// Whether the method awaits the task (`async let`, a group) or not (`Task { }`) cannot be known. If it does, neither would ever
  /// end, so the wait ends with ``MessageError`` `timedOut`. In the method's own task such a wait throws `wouldDeadlock` at once.
  public var deadlockTimeout: Duration

  /// The default options, except for those given.
  public init(
    duplicates: Duplicates = .refused, noResponder: NoResponder = .ignore, errors: Errors = .collected,
    deadlockTimeout: Duration = .seconds(10)
  ) {
    (self.duplicates, self.noResponder, self.errors) = (duplicates, noResponder, errors)
    self.deadlockTimeout = deadlockTimeout
  }
}

// MARK: Deprecated

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
  /// No: once dead, the target is neither called nor counted nor listed.
  case weak
  /// Yes, until the registration is cancelled.
  case strong
}
