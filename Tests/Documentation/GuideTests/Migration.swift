// Migration.swift: the code of the page "Migration".

// snippet: migration-gcd-after
import Dispatch
// end
// snippet: migration-weak-after
import Forwardcast
// end
// snippet: migration-undo-after
import ForwardcastRecording
// end
// snippet: migration-mock-after
import ForwardcastTesting
// end
import TestSupport
import Testing

// snippet: migration-weak-before
protocol PlayerObserver: AnyObject {
  func playerDidStop()
}

final class OldPlayer {
  private struct Box { weak var observer: (any PlayerObserver)? }
  private var boxes: [Box] = []

  func add(_ observer: any PlayerObserver) {
    boxes.append(Box(observer: observer))
  }
  func remove(_ observer: any PlayerObserver) {
    boxes.removeAll { $0.observer === observer }
  }
  func stop() {
    boxes.removeAll { $0.observer == nil }
    for box in boxes { box.observer?.playerDidStop() }
  }
}
// end

// snippet: migration-weak-after
@Forwarded
protocol PlayerListener: AnyObject {
  func playerDidStop()
}

final class Player {
  let listeners = PlayerListenerProxy()
  func stop() { listeners.playerDidStop() }
}
// end

// snippet: migration-center-after
@Forwarded
protocol AccountListener: AnyObject {
  func account(didLogIn name: String)
}

final class AccountPage: AccountListener {
  var names: [String] = []
  func account(didLogIn name: String) { names.append(name) }
}
// end

@Forwarded
protocol CallDelegate: AnyObject, Sendable {
  func call(didConnect peer: String)
}

final class CallScreen: CallDelegate {
  func call(didConnect peer: String) { print("connected", peer) }
}

// snippet: migration-gcd-after
@Forwarded
protocol RosterDelegate: AnyObject, Sendable {
  func roster(didAdd contact: String)
}

final class RosterPage: RosterDelegate {
  func roster(didAdd contact: String) { print("added", contact) }
}

@MainActor final class RosterWindow {
  var title = ""
}
// end

// snippet: migration-combine-after
@Forwarded
protocol PriceListener: AnyObject, Sendable {
  func price(_ cents: Int)
}
// end

// snippet: migration-proxy-after
@Receiver
final class Console {
  @Message func restart(after seconds: Int) {}
}
// end

// snippet: migration-undo-after
extension Message<(Int) -> Void> {
  static var setVolume: Self { .init("setVolume:") }
}

@Receiver
final class Mixer {
  let history = UndoHistory()
  var volume = 0

  @Message("setVolume:") func set(volume: Int) throws {
    try history.prepare(self).send(.setVolume, self.volume)
    self.volume = volume
  }
}
// end

extension SelectorTable {
  func exchange<T: AnyObject>(
    _ first: MessageSelector, _ second: MessageSelector, of: T.Type
  ) throws {
    let methods = (method(for: first), method(for: second))
    guard let one = methods.0, let two = methods.1 else { return }
    func row(_ name: MessageSelector, _ method: TableMethod) -> Responds<T> {
      Responds(to: name, signature: method.signature) {
        (target: T, call: inout Invocation) in
        try method.perform(&call, on: target)
      }
    }
    try replace(first) { _ in row(first, two) }
    try replace(second) { _ in row(second, one) }
  }
}

// snippet: migration-mock-before
protocol Clock24: AnyObject { func hour() -> Int }

final class MockClock24: Clock24 {
  var hourCalls = 0
  var hourResult = 0
  func hour() -> Int {
    hourCalls += 1
    return hourResult
  }
}
// end

// snippet: migration-mock-after
@Forwarded
protocol DayClock: AnyObject {
  @Answer(otherwise: 0) func hour() -> Int
}

struct Greeter {
  let clock: any DayClock
  func greeting() -> String { clock.hour() < 12 ? "good morning" : "good day" }
}
// end

private final class Page: PlayerObserver, PlayerListener {
  let heard = Heard()
  func playerDidStop() { heard.note("stopped") }
}

@Suite("Migration")
struct Migration {
  @Test("a proxy replaces a hand-written multicast delegate without changing its call site")
  func byHand() {
    let callScreen = CallScreen()
    let calls = CallDelegateProxy()
    calls.add(callScreen)
    calls.call(didConnect: "ann")
    let heard = Heard()
    calls.on(CallDelegateProxy.Messages.call) { heard.note($0) }
    calls.call(didConnect: "bob")
    expect(heard.lines, equals: ["bob"])
    let summary = calls.multicast.broadcast { $0.call(didConnect: "eve") }
    #expect(summary.delivered == 1 && heard.lines == ["bob"])
    withExtendedLifetime(callScreen) {}
  }

  @Test("the hand-written list of weak boxes and the proxy call the same observers")
  func weakBoxes() {
    let page = Page()
    let (old, new) = (OldPlayer(), Player())
    old.add(page)
    new.listeners.add(page)
    old.stop()
    new.stop()
    old.remove(page)
    new.listeners.remove(page)
    old.stop()
    new.stop()
    expect(page.heard.lines, equals: ["stopped", "stopped"])
  }

  @Test("a typed call replaces a notification, and a target or a closure replaces its observer")
  func notifications() {
    // snippet: migration-center-after
    let accountPage = AccountPage()
    let accounts = AccountListenerProxy()
    accounts.add(accountPage)
    var last = ""
    let token = accounts.on(AccountListenerProxy.Messages.account) { last = $0 }
    accounts.account(didLogIn: "ann")
    token.cancel()
    // end
    #expect(last == "ann" && accountPage.names == ["ann"])
  }

  @Test("a delegate that was called on a queue is still called on that queue")
  @MainActor func delegates() async throws {
    // snippet: migration-gcd-after
    let (rosterPage, window) = (RosterPage(), RosterWindow())
    let roster = RosterDelegateProxy()
    roster.add(rosterPage, delivery: .queue(DispatchQueue(label: "roster")))
    roster.on(RosterDelegateProxy.Messages.roster) { [weak window] contact in
      window?.title = contact
    }
    roster.roster(didAdd: "bob")
    // end
    try await roster.drain()
    #expect(window.title == "bob" && roster.count == 2)
    withExtendedLifetime(rosterPage) {}
  }

  @Test("a proxy replaces a subject, and a closure or a loop replaces its sink")
  func subjects() async {
    // snippet: migration-combine-after
    let prices = PriceListenerProxy()
    // Receives later messages:
    let values = prices.messages(for: PriceListenerProxy.Messages.price)
    prices.on(PriceListenerProxy.Messages.price) { print($0) }
    prices.price(100)

    // A loop ends with its task, with the proxy, or as here.
    for await cents in values.prefix(1) { print("loop \(cents)") }
    // end
    prices.price(200)
    var seen: [Int] = []
    for await cents in values.prefix(1) { seen.append(cents) }
    expect(seen, equals: [200])
  }

  @Test("a logging proxy forwards the messages that it prints")
  func proxies() throws {
    // snippet: migration-proxy-after
    let logging = ForwardingProxy(to: Console())
    try logging.before { message in print(message) }
    try logging.send(Console.Messages.restartAfter, 5)  // restartAfter: 5
    // end
    expect(logging.responds(to: "restartAfter:"))
  }

  @Test("a message registered as an undo step restores the old value")
  func undo() throws {
    let mixer = Mixer()
    try mixer.set(volume: 5)
    try mixer.history.undo()
    expect(mixer.volume, equals: 0)
  }

  @Test("a test double returns the stubbed result and counts calls as the mock did")
  func doubles() {
    let mock = MockClock24()
    mock.hourResult = 9
    #expect(mock.hour() == 9 && mock.hourCalls == 1)
    // snippet: migration-mock-after
    let clock = TestDouble(DayClockProxy())
    clock.stub(DayClockProxy.Messages.hour).answers(9)
    let text = Greeter(clock: clock.proxy).greeting()  // good morning
    clock.verify(DayClockProxy.Messages.hour, times: .once)
    // end
    expect(text, equals: "good morning")
  }

  @Test("two rows that call each other's method exchange their implementations")
  func exchange() throws {
    let table = SelectorTable(for: Mixer.self) {
      Responds(to: "louder:") { (_: Mixer, by: Int) in by }
      Responds(to: "softer:") { (_: Mixer, by: Int) in -by }
    }
    try table.exchange("louder:", "softer:", of: Mixer.self)
    let mixer = Mixer()
    let answers = try ["louder:", "softer:"].map { try table.method(for: $0)?.call(on: mixer, 2) as Int? }
    expect(answers, equals: [-2, 2])
  }
}
