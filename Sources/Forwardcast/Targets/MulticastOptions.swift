// MulticastOptions.swift: what a proxy does about duplicates, silence and errors.

/// How a multicast proxy treats duplicates, silence and errors. The defaults are those of the plain initialiser.
public struct MulticastOptions: Sendable {
  /// What adding the same target with the same delivery once more does.
  public enum Duplicates: Sendable {
    /// Gives the registration that is there; nothing changes.
    case refused
    /// Makes another registration: the target is called once for each, and removing it takes all.
    case allowed
  }

  /// What happens when no live, unmuted target responds.
  public enum Silence: Sendable {
    /// Nothing; the summary or report says so, and `collect` gives its policy's empty value.
    case ignored
    /// `collect` and `forward` throw `nobodyResponds`; `broadcast`, which cannot, gives it to the error handler.
    case thrown
    /// The closure is called with the selector, after which the message counts as ignored.
    case handled(@Sendable (MessageSelector) -> Void)
  }

  /// What an error in one target means for those behind it.
  public enum Errors: Sendable {
    /// They still get the message, and every error is kept with its target.
    case collected
    /// They do not get it.
    case stopAtFirst
  }

  /// What adding the same target again does.
  public var duplicates: Duplicates
  /// What happens when nobody responds.
  public var silence: Silence
  /// What an error in one target means for those behind it.
  public var errors: Errors
  /// How long a task that was made in a target's method waits for that very target, while the method runs: 10 seconds
  /// unless stated.
  ///
  /// Whether the method awaits the task (`async let`, a group) or not (`Task { }`) cannot be known. If it does, neither
  /// would ever end; so the wait ends with ``MessageError`` `timedOut`. A wait in the method's own task is refused at
  /// once with `wouldDeadlock`.
  public var deadlockTimeout: Duration

  /// The options of the plain initialiser, but for those that are named.
  /// The parameters are the properties of these names.
  public init(
    duplicates: Duplicates = .refused, silence: Silence = .ignored, errors: Errors = .collected,
    deadlockTimeout: Duration = .seconds(10)
  ) {
    (self.duplicates, self.silence, self.errors) = (duplicates, silence, errors)
    self.deadlockTimeout = deadlockTimeout
  }
}

/// Whether a proxy keeps a target alive.
public enum Ownership: Sendable {
  /// It does not: once dead, the target is neither called nor counted nor listed.
  case weak
  /// It does, until the registration is cancelled.
  case strong
}
