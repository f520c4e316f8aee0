// RemoteOptions.swift: how long to wait for another process, and what to make of its answers.

// Who imports this module codes messages.
@_exported public import ForwardcastCoding

/// How long to wait for another process, how much, and what its answers may be.
public struct RemoteOptions: Sendable {
  /// Where `responds(to:)` has its answer from.
  public enum Questions: Hashable, Sendable {
    /// From the endpoint, which was asked once, when the receiver was connected.
    case askedOnce
    /// From the message itself: whatever the endpoint lets through is sent, and one that nobody answers there ends in an
    /// error. For receivers that change what they answer, such as proxies.
    case askedEachTime
  }

  /// How long a message may take from its call to its answer, the wait for earlier ones included. Any duration
  /// will do: zero and less have passed before anything is sent, and what is longer than a century never passes.
  public var deadline: Duration
  /// What answers may be besides the standard types.
  public var types: InvocationTypes
  /// How large an answer may be.
  public var limits: MessageLimits
  /// Where `responds(to:)` has its answer from.
  public var questions: Questions
  /// The window: how many messages may be under way at a time, as far as the endpoint's ``MessageLimits/waiting`` allows. They
  /// run in order and one at a time; with 1, or less, each leaves when the one before has its answer.
  public var window: Int
  /// How many calls may wait for room in the window; one more is refused as `busy`.
  public var waitingCalls: Int
  /// After how many calls in a row of which it is unknown whether they arrived the other side counts as lost; `nil` never.
  public var givesUpAfter: Int?
  /// How to tell the engine the time that a call may take, where the engine has a limit of its own. See ``EngineTimeout``.
  public var engineTimeout: EngineTimeout?

  /// Makes a call to the engine within a time.
  ///
  /// An engine may end calls by itself, as Apple's cluster library does after 5 seconds unless it is told otherwise. A longer
  /// ``deadline`` holds only where the engine waits as long:
  ///
  ///     options.engineTimeout = { time, call in
  ///       try await RemoteCall.with(timeout: time) { try await call() }
  ///     }
  public typealias EngineTimeout =
    @Sendable (
      _ time: Duration, _ call: @Sendable () async throws -> String
    ) async throws -> String

  /// Options; each as its property says.
  public init(
    deadline: Duration = .seconds(10), types: InvocationTypes = InvocationTypes([:]),
    limits: MessageLimits = MessageLimits(), questions: Questions = .askedOnce, window: Int = 16,
    waitingCalls: Int = 1024, givesUpAfter: Int? = nil, engineTimeout: EngineTimeout? = nil
  ) {
    (self.deadline, self.types, self.limits, self.questions) = (deadline, types, limits, questions)
    (self.window, self.waitingCalls, self.givesUpAfter) = (window, waitingCalls, givesUpAfter)
    self.engineTimeout = engineTimeout
  }
}
