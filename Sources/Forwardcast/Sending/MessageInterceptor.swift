// MessageInterceptor.swift: ready-made hooks.

/// A ready-made `around` hook.
///
///     let store = ForwardingProxy(to: Store())
///     try store.around(.price, .timeout(.seconds(2)))
///     // surrounds the timeout: each attempt has two seconds
///     try store.around(.price, .retrying(3, while: { $0 is Offline }))
public struct MessageInterceptor: Sendable {
  let body: Hook.Body

  private init(
    _ name: String, _ body: @escaping Hook.AroundBody,
    waiting: nonisolated(nonsending) @escaping @Sendable (WaitingHookTurn) async throws -> MessageAnswers
  ) {
    self.body = .around(body, waiting: waiting, name: name)
  }

  /// Sends the message again if it throws, unless the sender's task is canceled.
  ///
  /// - Parameters:
  ///   - attempts: the maximum number of sends, including the first one.
  ///   - delay: the pause of a waiting sender between attempts. Other senders do not pause.
  ///   - clock: measures the delay, for example a `TestClock`; `nil` for the continuous clock.
  ///   - isTransient: returns true if the error is worth another attempt.
  /// - Precondition: `attempts` is positive.
  public static func retrying(
    _ attempts: Int, delay: Duration = .zero, clock: (any Clock<Duration>)? = nil,
    while isTransient: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> MessageInterceptor {
    precondition(attempts > 0, "retrying needs at least 1 attempt, found \(attempts)")
    @Sendable func isLast(_ attempt: Int, _ error: any Error) -> Bool {
      attempt == attempts || Task.isCancelled || !isTransient(error)
    }
    return MessageInterceptor("retrying") { turn in
      var attempt = 1
      while true {
        do { return try turn.proceed() } catch { if isLast(attempt, error) { throw error } }
        attempt += 1
      }
    } waiting: { turn in
      var attempt = 1
      while true {
        do { return try await turn.proceed() } catch { if isLast(attempt, error) { throw error } }
        attempt += 1
        if delay > .zero { try await pause(delay, clock) }
      }
    }
  }

  /// Ends a sender's wait with `timedOut`. Messages of senders that do not wait are unaffected.
  ///
  /// At the timeout the message is canceled. If a direct target is running an asynchronous method,
  /// the sender gets the error after that method has ended. If the method throws, `timedOut`
  /// includes the text of its error. By default, `clock` is the continuous clock.
  public static func timeout(_ timeout: Duration, clock: (any Clock<Duration>)? = nil) -> MessageInterceptor {
    MessageInterceptor("timeout") {
      try $0.proceed()
    } waiting: { turn in
      try await TimedWait.run(
        timeout, clock, of: turn.message.receiver, turn.message.selector, awaitsEnd: true, isolation: #isolation
      ) { try await turn.proceed() }
    }
  }

  /// Answers a message from a cache, if an earlier message to the same receiver had equal
  /// arguments. The receiver is the proxy or, for a hook of a table, the object.
  ///
  /// Caches answers, but no errors, of messages with an ``Invocation/contentKey``, if answers and
  /// arguments are known to be `Sendable`. Answers are not cached if some may be missing: if the
  /// sender does not wait for queued targets, or the policy is `.firstSuccess`. If a policy may
  /// stop early, its answers are reused only if one of them also stops the later message, as
  /// `false` stops `.every`. Concurrent messages with equal arguments might all be sent.
  ///
  /// - Parameters:
  ///   - duration: the lifetime of an entry.
  ///   - limit: the maximum number of entries, at least 1. The oldest entries are dropped first.
  ///   - clock: measures the duration, for example a `TestClock`.
  public static func caching(
    for duration: Duration, limit: Int = 1_000, clock: any Clock<Duration> = ContinuousClock()
  ) -> MessageInterceptor {
    caching(duration, limit, on: clock)
  }

  private static func caching<C: Clock>(_ duration: Duration, _ limit: Int, on clock: C) -> MessageInterceptor
  where C.Duration == Duration {
    let cache = AnswerCache(duration, limit, clock)
    return MessageInterceptor("caching") { turn in
      let key = turn.message.invocation.contentKey
      if let known = cache.find(turn.message, key) { return known }
      return cache.keep(try turn.proceed(), turn.message, key)
    } waiting: { turn in
      let key = turn.message.invocation.contentKey
      if let known = cache.find(turn.message, key) { return known }
      return cache.keep(try await turn.proceed(), turn.message, key)
    }
  }

  /// Logs a line for each message, such as `priceOf: "tea" answered 3` or `priceOf: "tea" failed:
  /// offline`. A `broadcast` requests no answers, so its line ends with `sent`.
  public static func logging(_ log: @escaping @Sendable (String) -> Void) -> MessageInterceptor {
    @Sendable func write(_ message: HookedMessage, _ outcome: Result<MessageAnswers, any Error>) throws
      -> MessageAnswers
    {
      switch outcome {
      case .success(let answers):
        let texts = answers.boxes.filter { $0.type != Void.self }.map(\.description)
        log("\(message.invocation) " + (texts.isEmpty ? "sent" : "answered \(texts.joined(separator: ", "))"))
      case .failure(let error): log("\(message.invocation) failed: \(error)")
      }
      return try outcome.get()
    }
    return MessageInterceptor("logging") { turn in
      try write(turn.message, Result { try turn.proceed() })
    } waiting: { turn in
      let outcome: Result<MessageAnswers, any Error>
      do { outcome = .success(try await turn.proceed()) } catch { outcome = .failure(error) }
      return try write(turn.message, outcome)
    }
  }
}

extension MessageHooking {
  /// Installs a ready-made hook around the messages of a key. Throws the errors of `before`.
  @discardableResult
  public func around<R, each A>(_ message: Message<(repeat each A) -> R>, _ interceptor: MessageInterceptor)
    throws(MessageError) -> HookRegistration
  {
    try hookPlace.install(message, interceptor.body)
  }

  /// Installs a ready-made hook around the messages of a selector; `nil` means every message.
  @discardableResult
  public func around(_ selector: MessageSelector?, _ interceptor: MessageInterceptor)
    throws(MessageError) -> HookRegistration
  {
    try hookPlace.install(selector, interceptor.body)
  }

  /// Installs a ready-made hook around every message.
  @discardableResult
  public func around(_ interceptor: MessageInterceptor) throws(MessageError) -> HookRegistration {
    try around(nil, interceptor)
  }
}

private func pause(_ delay: Duration, _ clock: (any Clock<Duration>)?) async throws {
  if let clock { try await clock.sleep(for: delay) } else { try await Deadline(after: delay).sleep() }
}

extension HookedMessage {
  /// True if any thread may compare and release the arguments.
  fileprivate var mayBeKept: Bool {
    arguments.crosses || invocation.arguments.allSatisfy { $0.isSendable || isKnownSendable($0.value) }
  }
}

/// The answers of a `caching` hook. Keys are hashed and compared without the lock, since their
/// arguments' `==` may send messages.
private final class AnswerCache<C: Clock>: Sendable where C.Duration == Duration {
  // `@unchecked`: the answers and the key's arguments are Sendable.
  private final class Entry: @unchecked Sendable {
    let (key, hash, answers, end): (Invocation.ContentKey, Int, [ArgumentBox], C.Instant)
    /// True if `answers` has every target's answer; otherwise, further targets might answer too.
    let isComplete: Bool
    weak let receiver: AnyObject?
    /// The entry's number in `order`. Guarded by the cache's lock.
    var place = 0

    init(
      _ key: Invocation.ContentKey, _ hash: Int, _ answers: [ArgumentBox], _ end: C.Instant, for message: HookedMessage
    ) {
      (self.key, self.hash, self.answers, self.end) = (key, hash, answers, end)
      (isComplete, receiver) = (message.makeProbe == nil, message.receiver)
    }

    func suffices(for message: HookedMessage) -> Bool {
      isComplete || message.makeProbe.map { answers.contains(where: $0()) } ?? false
    }
  }
  private struct State {
    /// The entries by the hash of receiver and key.
    var entries: [Int: [Entry]] = [:]
    /// The entries, oldest first.
    var order = FirstInFirstOut<Entry>()

    mutating func drop(_ entry: Entry) {
      entries[entry.hash]?.removeAll { $0 === entry }
      if entries[entry.hash]?.isEmpty == true { entries[entry.hash] = nil }
    }
  }
  private let state = Guarded(State())
  private let (duration, limit, clock): (Duration, Int, C)

  init(_ duration: Duration, _ limit: Int, _ clock: C) {
    (self.duration, self.limit, self.clock) = (duration, max(limit, 1), clock)
  }

  private func hash(_ message: HookedMessage, _ key: Invocation.ContentKey) -> Int {
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(message.receiver))
    hasher.combine(key)
    return hasher.finalize()
  }

  private func entry(_ message: HookedMessage, _ key: Invocation.ContentKey, _ hash: Int) -> Entry? {
    state.withLock { $0.entries[hash] ?? [] }.last { $0.receiver === message.receiver && $0.key == key }
  }

  func find(_ message: HookedMessage, _ key: Invocation.ContentKey?) -> MessageAnswers? {
    guard let key, let found = entry(message, key, hash(message, key)), clock.now < found.end,
      found.suffices(for: message)
    else { return nil }
    return TypedAnswers(found.answers)
  }

  func keep(_ answers: MessageAnswers, _ message: HookedMessage, _ key: Invocation.ContentKey?) -> MessageAnswers {
    let boxes = answers.boxes
    guard let key, !message.mayMissAnswers, !boxes.isEmpty, boxes.allSatisfy(\.isSendable), message.mayBeKept
    else { return answers }
    let kept = Entry(key, hash(message, key), boxes, clock.now.advanced(by: duration), for: message)
    let old = entry(message, key, kept.hash)
    let dropped = state.withLock { state -> [Entry] in
      var dropped: [Entry] = []
      if let old, let replaced = state.order.remove(old.place) { dropped.append(replaced) }
      kept.place = state.order.append(kept)
      state.entries[kept.hash, default: []].append(kept)
      while state.order.count > limit, let oldest = state.order.next() { dropped.append(oldest) }
      for entry in dropped { state.drop(entry) }
      return dropped
    }
    withExtendedLifetime(dropped) {}
    return answers
  }
}
