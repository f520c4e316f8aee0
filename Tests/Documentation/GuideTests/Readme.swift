// Readme.swift: the code of README.md, also compiled on the main actor by default.

// snippet: readme
import Forwardcast
// end
// snippet: readme-queues
import Dispatch
import Forwardcast
// end
import TestSupport
import Testing

// snippet: readme

@Forwarded
protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: String)
  @Answer(.every) func mayClose() -> Bool
  @Answer(.sum) func unread() -> Int
}

final class Screen: ThemesDelegate {
  var color = "grey"
  func themesColorChanged(_ color: String) { self.color = color }
  func mayClose() -> Bool { color != "red" }
  func unread() -> Int { 2 }
}

// end

@MainActor @Forwarded
protocol PlayerView: AnyObject {
  func show(_ title: String)
}

@MainActor final class TitleBar: PlayerView {
  var text = ""
  func show(_ title: String) { text = title }
}

// snippet: readme-queues
@Forwarded
nonisolated protocol LinkListener: AnyObject, Sendable {
  func linkChanged(to state: String)
}

@MainActor final class StatusLabel {
  var text = "-"
  func listen(to listeners: LinkListenerProxy) {
    listeners.on(LinkListenerProxy.Messages.linkChanged, owner: self) {
      $0.text = $1  // on the main actor, from any thread
    }
  }
}
// end

@Suite("README")
struct Readme {
  @Test("the first example prints what its comments state")
  func first() {
    // snippet: readme
    let (home, settings) = (Screen(), Screen())
    let themes = ThemesDelegateProxy()  // is a ThemesDelegate itself
    themes.add(home)  // held weakly
    themes.add(settings)
    themes.themesColorChanged("plum")  // calls both screens
    print(themes.unread())  // 4: the sum of all results
    if themes.mayClose() { print("closing") }  // every screen agrees
    // end
    #expect(home.color == "plum" && settings.color == "plum")
    expect(themes.unread(), equals: 4)
    #expect(themes.mayClose())
    home.color = "red"
    #expect(!themes.mayClose())
    withExtendedLifetime((home, settings)) {}
  }

  @Test("views and their proxy are on the main actor")
  @MainActor func mainActor() {
    let views = PlayerViewProxy()  // on the main actor, as its targets are
    let bar = TitleBar()
    views.add(bar)
    views.show("Intermezzo")
    expect(bar.text, equals: "Intermezzo")
  }

  @Test("a log on a queue and a label on the main actor receive calls from any thread")
  @MainActor func queues() async throws {
    // snippet: readme-queues
    let (label, listeners) = (StatusLabel(), LinkListenerProxy())
    label.listen(to: listeners)
    let queue = DispatchQueue(label: "log")
    listeners.on(LinkListenerProxy.Messages.linkChanged, delivery: .queue(queue)) {
      print($0)
    }
    await Task.detached { listeners.linkChanged(to: "connected") }.value
    try await listeners.drain()  // waits for all queued messages
    // end
    expect(label.text, equals: "connected")
  }
}
