// Forwarding.swift: the code of the page "Objects that forward"; compiled on the main actor by default as well.

// snippet: forwarding-table
import Forwardcast
// end
import TestSupport
import Testing

// snippet: forwarding-keys
extension Message<(String) -> String> {
  static var translate: Self { .init("translate:") }
}

@Receiver
final class Lexicon {
  @Message func translate(_ word: String) -> String {
    word == "chat" ? "cat" : "?"
  }
}
// end

// snippet: forwarding-proxy
nonisolated final class Shouting: ForwardingProxy {
  private let inner: any MessageReceiver
  init(_ inner: any MessageReceiver) {
    self.inner = inner
    super.init()
  }

  override func methodSignature(
    for selector: MessageSelector
  ) -> MethodSignature? {
    inner.methodSignature(for: selector)
  }

  override func forward(
    _ invocation: inout Invocation
  ) throws -> DeliveryReport {
    try inner.perform(&invocation)
    let answer: String = try invocation.result?.unbox() ?? ""
    invocation.result = ArgumentBox(answer.uppercased())
    return DeliveryReport(answeredBy: inner, invocation.result)
  }
}
// end

// snippet: forwarding-table
final class Plugin: MessageReceiver {
  static let selectorTable = SelectorTable(for: Plugin.self) {
    Responds(to: "version") { (plugin: Plugin) in plugin.version }
  }
  let version = 3

  /// Asked once for each selector that the table does not have.
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    guard selector.name == "help" else { return false }
    let row = Responds(to: selector) { (_: Plugin) in "version, name, help" }
    do { try selectorTable.add(row) } catch { return false }
    return true
  }
}
// end

// snippet: forwarding-service
extension Message<(String) -> Int> {
  static var price: Self { .init("price:") }
}

struct Offline: Error {}

@Receiver
actor Market {
  private var asked = 0
  @Message func price(_ item: String) throws -> Int {
    asked += 1
    if asked == 1 { throw Offline() }
    return item.count * 100
  }
}
// end

// snippet: forwarding-every
nonisolated final class Retrying: ForwardingProxy {
  private let inner: any MessageReceiver & Sendable
  init(_ inner: any MessageReceiver & Sendable) {
    self.inner = inner
    super.init()  // no target: every message comes to `forwardAndWait`
  }

  override func methodSignature(
    for selector: MessageSelector
  ) -> MethodSignature? {
    inner.methodSignature(for: selector)
  }

  nonisolated(nonsending) override func forwardAndWait(
    _ invocation: Invocation
  ) async throws -> DeliveryReport {
    var message = invocation
    do { try await inner.performAndWait(&message) } catch is Offline {
      try await inner.performAndWait(&message)
    }
    return DeliveryReport(answeredBy: inner, message.result)
  }
}
// end

@Suite("Objects that forward")
struct Forwarding {
  @Test("a proxy changes the answer of what it stands for")
  func shouting() throws {
    // snippet: forwarding-use
    let loud = Shouting(Lexicon())
    let shouted = try loud.send(.translate, "chat")  // "CAT"
    // end
    expect(shouted, equals: "CAT")
  }

  @Test("a lazy proxy makes its target on the first message")
  func lazy() throws {
    // snippet: forwarding-lazy
    let lexicon = LazyProxy { Lexicon() }
    let word = try lexicon.send(.translate, "chat")  // made here, or by a question
    // end
    #expect(word == "cat" && lexicon.isMade)
  }

  @Test("hooks stand around the messages of a proxy")
  func hooks() throws {
    let lexicon = LazyProxy { Lexicon() }
    // snippet: forwarding-hooks
    let translators = MulticastProxy<any MessageReceiver>()
    translators.add(lexicon)
    try translators.before(.translate) { word in print("translating \(word)") }
    try translators.after(.translate) { answers, word in
      print("\(word) is \(answers)")
    }
    try translators.around(.translate) { call in
      let answers = try call.proceed(with: call.arguments.lowercased())
      return answers.map { "«\($0)»" }
    }
    let quoted = try translators.collect(.translate, "Chat", returning: .last)
    print(quoted ?? "?")  // «cat»
    // end
    expect(quoted, equals: "«cat»")
    // snippet: forwarding-method
    let version = Message<() -> Int>("version")
    let hook = try Plugin.selectorTable.around(
      version, of: Plugin.self, { _, call in try call.proceed() + 1 })
    let next = try Plugin().send(version)  // 4
    hook.cancel()
    // end
    expect(next, equals: 4)
    withExtendedLifetime(lexicon) {}
  }

  @Test("a lazy proxy stands for an asynchronous service")
  func service() async throws {
    // snippet: forwarding-waiting
    let market = LazyProxy { Market() }
    try market.around(
      .price,
      waiting: { call in  // tries once more
        do { return try await call.proceed() } catch is Offline {
          return try await call.proceed()
        }
      })
    var known: [String: Int] = [:]
    try market.around(
      .price,
      waiting: { call in  // keeps prices: installed later, it stands outside
        if let price = known[call.arguments] { return [price] }
        let prices = try await call.proceed()
        known[call.arguments] = prices.first
        return prices
      })
    try market.after(.price) { prices, item in print(item, prices) }
    let price = try await market.sendAndWait(.price, "tea")  // 300
    let again = try await market.sendAndWait(.price, "tea")  // 300: it was kept
    // end
    #expect(price == 300 && again == 300)
    // snippet: forwarding-every-use
    let retrying = Retrying(Market())
    let retried = try await retrying.sendAndWait(.price, "tea")  // 300
    // end
    expect(retried, equals: 300)
  }

  @Test("a table may be changed while a program runs")
  func tables() throws {
    // snippet: forwarding-change
    let plugin = Plugin()
    try Plugin.selectorTable.add(Responds(to: "name") { (_: Plugin) in "plug-in" })
    let name: String = try plugin.dynamic.name()  // "plug-in"
    let help: String = try plugin.dynamic.help()  // made by the resolver
    let knows = plugin.responds(to: "version")  // true
    // end
    #expect(name == "plug-in" && help == "version, name, help" && knows)
  }
}
