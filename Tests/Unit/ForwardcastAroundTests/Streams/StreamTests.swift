// StreamTests.swift: messages as asynchronous sequences.

import Dispatch
@testable import Forwardcast
import Foundation
import TestSupport
import Testing

/// An object that is not Sendable.
private final class Local {}

extension Message<(Local) -> Void> { fileprivate static var local: Self { .init("local:") } }
extension Message<() -> Void> { fileprivate static var tap: Self { .init("tap") } }

@Suite("Streams of messages")
struct StreamTests {
  private func proxy() -> SharedDesks {
    let proxy = SharedDesks()
    proxy.add(Desk("ann", worth: 1, Journal()), ownership: .strong)
    return proxy
  }

  @Test("a key's stream yields typed arguments in order and ends with the proxy")
  func typed() async {
    var proxy: SharedDesks? = proxy()
    let texts = proxy?.messages(for: .say)
    let pairs = proxy?.messages(for: .join)
    let taps = proxy?.messages(for: .tap)
    proxy?.broadcast(.say, "a")
    proxy?.broadcast(.join, 1, "x")
    proxy?.broadcast(.say, "b")
    proxy?.broadcast(.tap)
    proxy = nil
    var heard: [String] = []
    if let texts { for await text in texts { heard.append(text) } }
    if let pairs { for await (number, text) in pairs { heard.append("\(number)\(text)") } }
    if let taps { for await _ in taps { heard.append("tap") } }
    expect(heard, equals: ["a", "b", "1x", "tap"])
  }

  @Test("a stream of exchanges yields arguments with answers and omits failed messages")
  func exchanges() async throws {
    var proxy: SharedDesks? = proxy()
    let quotes = proxy?.exchanges(for: .quote)
    try expect(proxy?.collect(.quote, 3, returning: .sum), equals: 4)
    #expect(throws: Refusal.self) { try proxy?.collect(.quote, -1, returning: .sum) }
    proxy?.add(Desk("bo", worth: 5, Journal()), ownership: .strong)
    try await expect(proxy?.collectAndWait(.quote, 1, returning: .sum), equals: 8)
    proxy?.broadcast(.quote, 7)
    proxy = nil
    var heard: [String] = []
    if let quotes { for await quote in quotes { heard.append("\(quote.arguments) \(quote.answers)") } }
    expect(heard, equals: ["3 [4]", "1 [2, 6]", "7 []"])
  }

  @Test("in the proxy's isolation, a stream yields answers of any type, or invocations")
  func exchangesInPlace() async throws {
    var proxy: Desks? = Desks()
    let key = Message<() -> Local>("local")
    proxy?.on(key) { Local() }
    let (locals, all) = (proxy?.exchanges(for: key), proxy?.messages())
    try expect(proxy?.collect(key, returning: .all).count, equals: 1)
    proxy = nil
    var heard: [String] = []
    if let locals { for await exchange in locals { heard.append("\(exchange.answers.count)") } }
    if let all { for await invocation in all { heard.append("\(invocation)") } }
    expect(heard, equals: ["1", "local"])
  }

  @Test("a stream that any isolation may use does not yield answers that are not known to be Sendable")
  func exchangesThatDoNotCross() async throws {
    var proxy: MulticastProxy<any MessageReceiver & Sendable>? = MulticastProxy()
    let failures = Journal()
    proxy?.onError = { failures.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    let key = Message<() -> Local>("local")
    let target = BareReceiver { Responds(to: key) { (_: BareReceiver) in Local() } }
    proxy?.add(target)
    let locals = proxy?.exchanges(for: key)
    try expect(proxy?.collect(key, returning: .all).count, equals: 1)
    proxy = nil
    var heard = 0
    if let locals { for await _ in locals { heard += 1 } }
    expect(heard, equals: 0)
    expect(failures.all, equals: ["isolation mismatch"])
    withExtendedLifetime(target) {}
  }

  @Test("a stream for a selector, or for all messages, yields invocations")
  func boxed() async {
    var proxy: SharedDesks? = proxy()
    let (quotes, all) = (proxy?.messages(for: "quote:"), proxy?.messages())
    proxy?.broadcast(.say, "a")
    proxy?.broadcast(.quote, 3)
    proxy = nil
    var heard: [String] = []
    if let quotes { for await call in quotes { heard.append("one \(call)") } }
    if let all { for await call in all { heard.append("all \(call)") } }
    expect(heard, equals: ["one quote: 3", #"all say: "a""#, "all quote: 3"])
  }

  @Test("every verb is heard once, whoever responds")
  func verbs() async throws {
    var proxy: SharedDesks? = SharedDesks()
    let stream = proxy?.messages(for: .quote)
    proxy?.broadcast(.quote, 1)
    _ = try proxy?.collect(.quote, 2, returning: .sum)
    _ = try await proxy?.collectAndWait(.quote, 3, returning: .sum)
    var call = Invocation("quote:", arguments: [ArgumentBox(4)])
    _ = try proxy?.forward(&call)
    _ = try await proxy?.broadcastWhenReady(.quote, 5)
    proxy = nil
    var heard: [Int] = []
    if let stream { for await amount in stream { heard.append(amount) } }
    expect(heard, equals: [1, 2, 3, 4, 5])
  }

  @Test("a message that only a stream receives counts as unanswered")
  func silence() async throws {
    let proxy = SharedDesks(options: MulticastOptions(noResponder: .throw))
    let told = Journal()
    proxy.onError = { told.write(($0.error as? MessageError)?.code.description ?? "\($0)") }
    let stream = proxy.messages(for: .quote)
    expect(proxy.broadcast(.quote, 1).nobodyResponded)
    expect(told.all, equals: ["nobody responds"])
    let error = #expect(throws: MessageError.self) { try proxy.collect(.quote, 2, returning: .sum) }
    expect(error?.code, equals: .nobodyResponds)
    var heard = stream.makeAsyncIterator()
    expect([await heard.next(), await heard.next()], equals: [1, 2])
  }

  @Test("a stream receives the messages that the hooks let through, as the targets do")
  func hooks() async throws {
    var proxy: SharedDesks? = proxy()
    try proxy?.around(.quote) { call in
      if call.arguments == 0 { return [] }
      _ = try call.proceed()
      return try call.proceed(with: call.arguments * 10)
    }
    let stream = proxy?.messages(for: .quote)
    proxy?.broadcast(.quote, 0)
    proxy?.broadcast(.quote, 4)
    proxy = nil
    var heard: [Int] = []
    if let stream { for await amount in stream { heard.append(amount) } }
    expect(heard, equals: [4, 40])
  }

  @Test("a stream's buffer keeps the newest or the oldest messages, and the stream counts the dropped ones")
  func buffers() async {
    var proxy: SharedDesks? = proxy()
    let newest = proxy?.messages(for: .quote, buffering: .bufferingNewest(3))
    let oldest = proxy?.messages(for: .quote, buffering: .bufferingOldest(2))
    let all = proxy?.messages(for: .quote)
    for amount in 0..<10 { proxy?.broadcast(.quote, amount) }
    proxy = nil
    var (first, second, third): ([Int], [Int], [Int]) = ([], [], [])
    if let newest { for await amount in newest { first.append(amount) } }
    if let oldest { for await amount in oldest { second.append(amount) } }
    if let all { for await amount in all { third.append(amount) } }
    expect(first == [7, 8, 9] && second == [0, 1] && third == Array(0..<10))
    expect(newest?.dropped == 7 && oldest?.dropped == 8 && all?.dropped == 0)
  }

  @Test("a stream that is no longer consumed is removed from the proxy")
  func leaving() async {
    let proxy = proxy()
    do {
      let stream = proxy.messages(for: .quote)
      expect(proxy.core.listenerCount, equals: 1)
      proxy.broadcast(.quote, 1)
      for await _ in stream { break }
    }
    expect(proxy.core.listenerCount, equals: 0)
    _ = proxy.messages(for: .quote)
    expect(proxy.core.listenerCount, equals: 0)
    proxy.broadcast(.quote, 2)
  }

  @Test("canceling the task ends the loop and removes the stream from the proxy")
  func cancellation() async {
    let proxy = proxy()
    let (started, stream) = (AsyncStream.makeStream(of: Void.self), proxy.messages(for: .quote))
    let task = Task {
      var count = 0
      for await _ in stream {
        count += 1
        started.continuation.yield()
      }
      return count
    }
    proxy.broadcast(.quote, 1)
    for await _ in started.stream { break }
    task.cancel()
    await expect(task.value, equals: 1)
    expect(proxy.core.listenerCount, equals: 0)
    expect(proxy.broadcast(.quote, 2).delivered, equals: 1)
  }

  @Test("arguments that are not Sendable are reported and not yielded, and the message is still delivered")
  func crossing() async {
    var proxy: SharedDesks? = proxy()
    let told = Journal()
    proxy?.onError = { told.write("\(($0.error as? MessageError)?.code.description ?? "") \($0.receiver)") }
    let (locals, all) = (proxy?.messages(for: .local), proxy?.messages())
    proxy?.on(.local) { _ in told.write("delivered") }
    proxy?.broadcast(.local, Local())
    proxy = nil
    var count = 0
    if let locals { for await _ in locals { count += 1 } }
    if let all { for await _ in all { count += 1 } }
    expect(count, equals: 0)
    let refused = "isolation mismatch a stream of messages"
    expect(told.all, equals: [refused, refused, "delivered"])
  }

  @Test("a boxed message that does not fit the key is reported, and targets that accept it still receive it")
  func misfit() async {
    var proxy: SharedDesks? = proxy()
    let told = Journal()
    proxy?.onError = { told.write("\(($0.error as? MessageError)?.code.description ?? "")") }
    let quotes = proxy?.messages(for: .quote)
    proxy?.on(Message<(String) -> Void>("quote:")) { told.write($0) }
    proxy?.broadcast(Invocation("quote:", arguments: [ArgumentBox("text")]))
    proxy = nil
    var count = 0
    if let quotes { for await _ in quotes { count += 1 } }
    expect(count, equals: 0)
    expect(told.all, equals: ["type mismatch", "type mismatch", "text"])
  }

  @Test("a stream in the proxy's isolation yields values that are not Sendable")
  @MainActor func oneIsolation() async {
    var proxy: Desks? = Desks()
    let (stream, local) = (proxy?.messages(for: .local), Local())
    proxy?.broadcast(.local, local)
    proxy = nil
    var heard: [Local] = []
    if let stream { for await object in stream { heard.append(object) } }
    expect(heard.count == 1 && heard.first === local)
  }

  @Test(
    "delivered and dropped messages of a bounded stream add up to those that four threads sent",
    arguments: [(limit: 64, keepsNewest: true), (limit: 64, keepsNewest: false), (limit: 1, keepsNewest: true)])
  func fourThreads(limit: Int, keepsNewest: Bool) async {
    // FORWARDCAST_STREAM_MESSAGES=250000 sends a million; a debug build needs minutes for that.
    let each = bound(1_000, full: 5_000, named: "FORWARDCAST_STREAM_MESSAGES")
    var proxy: SharedDesks? = SharedDesks()
    guard
      let stream = proxy?.messages(
        for: .quote, buffering: keepsNewest ? .bufferingNewest(limit) : .bufferingOldest(limit))
    else { return }
    let consumer = Task {
      var (count, last, isOrdered) = (0, [Int](repeating: -1, count: 4), true)
      for await number in stream {
        count += 1
        if number <= last[number / each] { isOrdered = false }
        last[number / each] = number
      }
      return (count, isOrdered)
    }
    if let sender = proxy { await burst(sender, each) }
    proxy = nil
    let (delivered, isOrdered) = await consumer.value
    expect(delivered + stream.dropped, equals: 4 * each)
    expect(delivered >= 1 && isOrdered)
  }

  /// Sends from four threads concurrently, each with its own numbers in order.
  private func burst(_ proxy: SharedDesks, _ each: Int) async {
    await withCheckedContinuation { done in
      DispatchQueue.global().async {
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for number in 0..<each { proxy.broadcast(.quote, thread * each + number) }
        }
        done.resume()
      }
    }
  }
}
