// Forwarding.swift: the code of the page "Objects that forward"; compiled on the main actor by default as well.
// Layer: Tests.

import Forwardcast
import TestSupport
import Testing

// snippet: forwarding-keys
extension Message<(String) -> String> { static var translate: Self { .init("translate:") } }
// end

// snippet: forwarding-receiver
@Receiver
final class Lexicon {
  @Message func translate(_ word: String) -> String { word == "chat" ? "cat" : "?" }
}
// end

// snippet: forwarding-proxy
nonisolated final class Shouting: ForwardingProxy {
  private let inner: any MessageReceiver
  init(_ inner: any MessageReceiver) {
    self.inner = inner
    super.init()
  }

  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    selector.numberOfArguments == 1 ? MethodSignature(returning: String.self, taking: String.self) : nil
  }

  override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
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
}
// end

// snippet: forwarding-service
extension Message<(String) -> Int> { static var price: Self { .init("price:") } }

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

@Suite("Objects that forward")
struct Forwarding {
  @Test("a proxy changes the answer of what it stands for")
  func shouting() throws {
    // snippet: forwarding-use
    let loud = Shouting(Lexicon())
    let word = try loud.send(.translate, "chat")  // "CAT"
    // end
    expect(word, equals: "CAT")
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
    let lexicon = Lexicon()
    // snippet: forwarding-hooks
    let translators = MulticastProxy<any MessageReceiver>()
    translators.add(lexicon)
    try translators.before(.translate) { word in print("translating \(word)") }
    try translators.after(.translate) { answers, word in print("\(word) is \(answers)") }
    try translators.around(.translate) { call in
      try call.proceed(with: call.arguments.lowercased()).map { "«\($0)»" }  // each answer of the list
    }
    let word = try translators.collect(.translate, "Chat", returning: .last)  // Optional("«cat»")
    // end
    expect(word, equals: "«cat»")
    withExtendedLifetime(lexicon) {}
  }

  @Test("a lazy proxy stands for an asynchronous service")
  func service() async throws {
    // snippet: forwarding-waiting
    let market = LazyProxy { Market() }
    try market.around(
      .price,
      waiting: { call in  // tries once more
        do { return try await call.proceed() } catch is Offline { return try await call.proceed() }
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
    let again = try await market.sendAndWait(.price, "tea")  // 300, and nobody asked the market
    // end
    #expect(price == 300 && again == 300)
  }

  @Test("a table may be changed while a program runs")
  func tables() throws {
    // snippet: forwarding-change
    let plugin = Plugin()
    try Plugin.selectorTable.add(Responds(to: "name") { (_: Plugin) in "plug-in" })
    let name: String = try plugin.dynamic.name()  // "plug-in"
    let knows = plugin.responds(to: "version")  // true
    // end
    #expect(name == "plug-in" && knows)
  }
}
