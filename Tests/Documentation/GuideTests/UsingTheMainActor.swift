// UsingTheMainActor.swift: the code of "Using the Main Actor", also on the main actor by default.

// snippet: main-mixed
import Dispatch
// end
// snippet: main-views
import Forwardcast
// end
import TestSupport
import Testing

// snippet: main-views
@MainActor @Forwarded
protocol PageDelegate: AnyObject {
  func page(didTurnTo number: Int)
  @Answer(.every) func mayTurn() -> Bool
}

@MainActor final class Ribbon: PageDelegate {
  var number = 1
  func page(didTurnTo number: Int) { self.number = number }
  func mayTurn() -> Bool { true }
}
// end

// snippet: main-mixed
@Forwarded
nonisolated protocol RadioListener: AnyObject, Sendable {
  func radio(didReceive packet: String)
}

@MainActor final class Window {
  private(set) var title = ""
  func listen(to radio: RadioListenerProxy) {
    // Written on the main actor, so it runs there.
    radio.on(RadioListenerProxy.Messages.radio, owner: self) { window, packet in
      window.title = packet
    }
  }
}

nonisolated final class PacketLog: RadioListener {
  func radio(didReceive packet: String) { print("packet", packet) }
}
// end

// snippet: main-wrapped
extension RadioListenerProxy {
  @MainActor func onPacket<Owner: AnyObject & Sendable>(
    _ owner: Owner, _ show: @escaping @MainActor (Owner, String) -> Void
  ) {
    on(RadioListenerProxy.Messages.radio, owner: owner) { owner, packet in
      show(owner, packet)
    }
  }
}
// end

// snippet: main-actor
actor Diary {
  private(set) var packets: [String] = []

  func listen(to radio: RadioListenerProxy) -> Registration {
    radio.on(RadioListenerProxy.Messages.radio) { self.packets.append($0) }
  }
}
// end

// snippet: main-conformance
@Forwarded
nonisolated protocol ZoomListener: AnyObject {
  func zoom(didChangeTo factor: Double)
}

@MainActor final class Ruler { var factor = 1.0 }
extension Ruler: @MainActor ZoomListener {
  @MainActor func zoom(didChangeTo factor: Double) { self.factor = factor }
}
// end

// snippet: main-assumed
@Forwarded
nonisolated protocol StatusListener: AnyObject, Sendable {
  func status(didBecome text: String)
}

@MainActor final class Banner: StatusListener {
  private(set) var title = ""
  nonisolated func status(didBecome text: String) {
    MainActor.assumeIsolated { title = text }
  }
  func listen(to statuses: StatusListenerProxy) {
    statuses.add(self, delivery: .mainActor)
  }
}
// end

// snippet: main-object
@MainActor @Forwarded
protocol Turntable: AnyObject, Sendable {
  func play(_ song: String)
  nonisolated func note(_ text: String)
}

@MainActor final class Deck: Turntable {
  var song = ""
  func play(_ song: String) { self.song = song }
  nonisolated func note(_ text: String) { print(text) }
}
// end

@Suite("Using the Main Actor")
struct UsingTheMainActor {
  @Test("the proxy of a protocol on the main actor is on the main actor")
  @MainActor func views() {
    // snippet: main-views
    let pages = PageDelegateProxy()
    let ribbon = Ribbon()
    pages.add(ribbon)
    if pages.mayTurn() { pages.page(didTurnTo: 2) }
    // end
    expect(ribbon.number, equals: 2)
  }

  @Test("a sender on any thread calls targets on a queue and closures on the main actor")
  @MainActor func mixed() async throws {
    // snippet: main-mixed
    let (window, log) = (Window(), PacketLog())
    let radio = RadioListenerProxy()
    window.listen(to: radio)
    radio.add(log, delivery: .queue(DispatchQueue(label: "log")))

    // From any thread:
    await Task.detached { radio.radio(didReceive: "hello") }.value
    try await radio.drain()
    // end
    #expect(window.title == "hello" && radio.count == 2)
    let diary = Diary()
    let listening = await diary.listen(to: radio)
    let heard = Heard()
    radio.onPacket(window) { _, packet in heard.note(packet) }
    radio.radio(didReceive: "hello again")
    try await radio.drain()
    listening.cancel()
    await expect(diary.packets, equals: ["hello again"])
    expect(heard.lines, equals: ["hello again"])
    withExtendedLifetime(log) {}
  }

  @Test("a target with an isolated conformance receives messages on the main actor")
  @MainActor func conformance() {
    // snippet: main-conformance
    let zooms = ZoomListenerProxy()
    let ruler = Ruler()
    zooms.add(ruler)
    zooms.zoom(didChangeTo: 2)
    // end
    expect(ruler.factor, equals: 2)
  }

  @Test("a main-actor delivery calls a main-actor class on the main actor")
  @MainActor func assumed() async throws {
    // snippet: main-assumed
    let banner = Banner()
    let statuses = StatusListenerProxy()
    banner.listen(to: statuses)
    await Task.detached { statuses.status(didBecome: "online") }.value
    try await statuses.drain()
    // end
    expect(banner.title, equals: "online")
  }

  @Test("requirements of a Sendable protocol may be isolated to the main actor or nonisolated")
  @MainActor func object() async throws {
    // snippet: main-object
    let deck = Deck()
    let players = TurntableProxy()
    players.add(deck)
    players.play("Intermezzo")  // on the main actor, like this code
    await Task.detached { players.note("from a task") }.value
    // end
    expect(deck.song, equals: "Intermezzo")
  }
}
