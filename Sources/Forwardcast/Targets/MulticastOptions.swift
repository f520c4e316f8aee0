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
  public enum Silence: Sendable {
    /// Nothing; the summary or report tells, and `collect` gives its policy's empty value.
    case ignored
    /// `collect` and `forward` throw `nobodyResponds`; `broadcast`, which cannot, passes it to the error handler.
    case thrown
    /// The closure is called; then the message counts as ignored.
    case handled(@Sendable (MessageSelector) -> Void)
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
  public var silence: Silence
  /// What happens to later targets when one throws.
  public var errors: Errors
  /// How long a task that was made in a target's method waits for that target while the method runs; by default 10 seconds.
  ///
  /// Whether the method awaits the task (`async let`, a group) or not (`Task { }`) cannot be known. If it does, neither would ever
  /// end, so the wait ends with ``MessageError`` `timedOut`. In the method's own task such a wait throws `wouldDeadlock` at once.
  public var deadlockTimeout: Duration

  /// The default options, except for those given.
  public init(
    duplicates: Duplicates = .refused, silence: Silence = .ignored, errors: Errors = .collected,
    deadlockTimeout: Duration = .seconds(10)
  ) {
    (self.duplicates, self.silence, self.errors) = (duplicates, silence, errors)
    self.deadlockTimeout = deadlockTimeout
  }
}

/// Whether a proxy retains a target.
public enum Ownership: Sendable {
  /// No: once dead, the target is neither called nor counted nor listed.
  case weak
  /// Yes, until the registration is cancelled.
  case strong
}
