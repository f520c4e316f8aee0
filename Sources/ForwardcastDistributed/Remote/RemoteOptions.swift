// RemoteOptions.swift: deadlines, limits and types of a remote receiver.

// Exported because clients encode and decode messages.
@_exported public import ForwardcastCoding

/// Deadlines, limits and types of a remote receiver.
public struct RemoteOptions: Sendable {
  /// How `responds(to:)` is answered.
  public enum Questions: Hashable, Sendable {
    /// The answer is what the endpoint stated when the receiver was connected.
    case askedOnce
    /// The answer is `true` for every selector that the endpoint accepts. The message itself fails
    /// if no target responds. Suits receivers whose answers change, such as proxies.
    case askedEachTime
  }

  /// The time limit of a message from its call to its answer, including the wait for earlier
  /// messages. With zero or less, nothing is sent. More than a century means no limit.
  public var deadline: Duration
  /// The types of answers besides the standard types.
  public var types: KnownTypes
  /// The limits of answers.
  public var limits: MessageLimits
  /// How `responds(to:)` is answered.
  public var questions: Questions
  /// The window: the maximum number of messages in flight, which run in order, one at a time. The
  /// endpoint's ``MessageLimits/waiting`` may lower it. With 1 or less, each message is sent after
  /// the answer to the previous one.
  public var window: Int
  /// The maximum number of calls that wait for the window. Further calls are refused as `busy`.
  public var waitingCalls: Int
  /// The number of successive unanswered calls after which the other side is lost; `nil` for never.
  public var givesUpAfter: Int?
  /// Tells an engine (an actor system) with its own time limit how long a call may take. See
  /// ``EngineTimeout``.
  public var engineTimeout: EngineTimeout?

  /// Calls the engine with a time limit.
  ///
  /// An engine can end calls by itself, as Apple's cluster library does after 5 seconds by default.
  /// A longer ``deadline`` takes effect only if the engine waits as long: see *Deadlines* in
  /// <doc:OtherProcesses>.
  public typealias EngineTimeout =
    @Sendable (
      _ time: Duration, _ call: @Sendable () async throws -> String
    ) async throws -> String

  /// Creates options with these properties.
  public init(
    deadline: Duration = .seconds(10), types: KnownTypes = KnownTypes([:]),
    limits: MessageLimits = MessageLimits(), questions: Questions = .askedOnce, window: Int = 16,
    waitingCalls: Int = 1024, givesUpAfter: Int? = nil, engineTimeout: EngineTimeout? = nil
  ) {
    (self.deadline, self.types, self.limits, self.questions) = (deadline, types, limits, questions)
    (self.window, self.waitingCalls, self.givesUpAfter) = (window, waitingCalls, givesUpAfter)
    self.engineTimeout = engineTimeout
  }
}
