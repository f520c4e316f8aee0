// Tutorials.swift: the code of the tutorials. Each tutorial step is the beginning of a snippet.

import Dispatch
import Forwardcast
import TestSupport
import Testing

// snippet: theme-switch
@Forwarded
protocol ThemeDelegate: AnyObject {
  func themeChanged(to color: String)
}
// end

// snippet: theme-switch
final class ThemePage: ThemeDelegate {
  let name: String
  var color = "grey"

  init(_ name: String) { self.name = name }
  func themeChanged(to color: String) { self.color = color }
}
// end

// snippet: theme-switch
final class ThemeSwitch {
  let pages = ThemeDelegateProxy()

  func choose(_ color: String) {
    pages.themeChanged(to: color)
  }
}
// end

// snippet: device-queues
@Forwarded
protocol StrapListener: AnyObject, Sendable {
  func strap(heartRate: Int) async
  @Answer(.sum) func stored() async -> Int
}
// end

// snippet: device-queues
actor RateStore: StrapListener {
  private var rates: [Int] = []
  func strap(heartRate: Int) { rates.append(heartRate) }
  func stored() -> Int { rates.count }
}
// end

// snippet: device-queues
@MainActor final class RateLabel: StrapListener {
  var text = "-"
  func strap(heartRate: Int) { text = "\(heartRate) bpm" }
  func stored() -> Int { 0 }
}
// end

@Suite("Tutorials")
struct Tutorials {
  @Test("a theme change reaches the pages that are open")
  func theme() {
    // snippet: theme-switch
    let theme = ThemeSwitch()
    let home = ThemePage("home")
    var settings: ThemePage? = ThemePage("settings")
    theme.pages.add(home)
    if let settings { theme.pages.add(settings) }
    theme.choose("plum")
    // end
    #expect(home.color == "plum" && settings?.color == "plum")
    // snippet: theme-switch
    settings = nil
    theme.choose("sand")
    print(home.color, theme.pages.count)  // sand 1
    // end
    #expect(home.color == "sand" && settings == nil && theme.pages.count == 1)
  }

  @Test("a device updates a store and a label, each on its own actor or queue")
  @MainActor func device() async throws {
    // snippet: device-queues
    let listeners = StrapListenerProxy()
    let (store, label) = (RateStore(), RateLabel())
    listeners.add(store)
    listeners.add(label)
    for rate in [61, 64, 128] { await listeners.strap(heartRate: rate) }
    // end
    expect(label.text, equals: "128 bpm")
    // snippet: device-queues
    let log = DispatchQueue(label: "log")
    listeners.on(
      StrapListenerProxy.Messages.strap, delivery: .queue(log),
      buffer: .keepNewest(100)
    ) { rate in print("rate \(rate)") }
    await listeners.strap(heartRate: 90)  // returns when all have received it
    // end
    expect(label.text, equals: "90 bpm")
    // snippet: device-queues
    let count = await listeners.stored()  // 4
    // end
    expect(count, equals: 4)
    withExtendedLifetime((store, label)) {}
  }
}
