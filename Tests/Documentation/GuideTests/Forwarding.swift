// Forwarding.swift: the code of "Forwarding Objects", also on the main actor by default.

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

// snippet: forwarding-typed
@Forwarded
nonisolated protocol Translator: AnyObject {
  func translate(_ word: String) throws -> String
}

nonisolated extension LazyProxy: Translator {
  func translate(_ word: String) throws -> String {
    try send(TranslatorProxy.Messages.translate, word)
  }
}
// end

// snippet: forwarding-table
final class Plugin: MessageReceiver {
  static let selectorTable = SelectorTable(for: Plugin.self) {
    Responds(to: "version") { (plugin: Plugin) in plugin.version }
  }
  let version = 3

  /// Called once for each selector that the table lacks.
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

// snippet: forwarding-swap
@Forwarded
nonisolated protocol Rates: AnyObject, Sendable {
  @Answer(.first) func rate() async throws -> Int
}

nonisolated final class Bank: Rates {
  let value: Int
  init(_ value: Int) { self.value = value }
  func rate() -> Int { value }
}
// end

/// Retries each message that failed with `Offline`.
nonisolated final class Retrying: ForwardingProxy {
  private let inner: any MessageReceiver & Sendable
  init(_ inner: any MessageReceiver & Sendable) {
    self.inner = inner
    super.init()  // without a target, every message calls `forwardAndWait`
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

@Suite("Forwarding Objects")
struct Forwarding {
  @Test("a proxy changes the result of its object")
  func shouting() throws {
    // snippet: forwarding-use
    let loud = Shouting(Lexicon())
    let shouted = try loud.send(.translate, "chat")  // "CAT"
    // end
    expect(shouted, equals: "CAT")
  }

  @Test("a lazy proxy creates its target when it receives the first message")
  func lazy() throws {
    // snippet: forwarding-lazy
    let lexicon = LazyProxy { Lexicon() }
    let word = try lexicon.send(.translate, "chat")  // creates the target
    // end
    #expect(word == "cat" && lexicon.isMade)
    // snippet: forwarding-typed-use
    let typed = TranslatorProxy()
    typed.add(lexicon)  // held weakly
    let known = try typed.translate("chat")  // "cat"
    // end
    expect(known, equals: "cat")
    withExtendedLifetime(lexicon) {}
  }

  @Test("hooks surround the messages of a proxy")
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
    try market.around(.price, .retrying(2, while: { $0 is Offline }))
    try market.around(.price, .caching(for: .seconds(60)))  // around the retries
    try market.around(
      .price,
      waiting: { call in
        let prices = try await call.proceed()
        return prices.map { $0 + 19 }
      })
    let price = try await market.sendAndWait(.price, "tea")  // 319
    let again = try await market.sendAndWait(.price, "tea")  // 319, from the cache
    // end
    #expect(price == 319 && again == 319)
    let retrying = Retrying(Market())
    let retried = try await retrying.sendAndWait(.price, "tea")
    expect(retried, equals: 300)
  }

  @Test("a service can be replaced while the program runs")
  func replacing() async throws {
    // snippet: forwarding-swap-use
    let rates = RatesProxy()
    try rates.around(RatesProxy.Messages.rate, .retrying(2))  // survives `replace`
    rates.add(Bank(1), priority: -1, ownership: .strong)  // default
    let bank = Bank(2)
    rates.add(bank, ownership: .strong)
    rates.replace(bank, with: Bank(3))
    print(try await rates.rate())  // 3
    // end
    try await expect(rates.rate(), equals: 3)
  }

  @Test("a table can be changed at run time")
  func tables() throws {
    // snippet: forwarding-change
    let plugin = Plugin()
    try Plugin.selectorTable.add(Responds(to: "name") { (_: Plugin) in "plug-in" })
    let name: String = try plugin.dynamic.name()  // "plug-in"
    let help: String = try plugin.dynamic.help()  // added by the resolver
    let knows = plugin.responds(to: "version")  // true
    // end
    #expect(name == "plug-in" && help == "version, name, help" && knows)
  }
}
