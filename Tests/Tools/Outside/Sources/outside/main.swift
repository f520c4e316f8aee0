// main.swift: refines a protocol of another module, in a client module that is on the main actor by
// default.

import Forwardcast
import Themes

@Forwarded(inheriting: (any ThemesDelegate).self)
nonisolated protocol WindowDelegate: ThemesDelegate {
  func windowMoved(to place: Int)
}

nonisolated final class Screen: WindowDelegate {
  func themesColorChanged(_ color: String) { print("color", color) }
  func screens() -> Int { 2 }
  func windowMoved(to place: Int) { print("place", place) }
}

@Receiver(inheriting: Console.self)
nonisolated final class LoudConsole: Console {
  @Message func shout() -> String { "HERE" }
}

let (proxy, screen, other) = (WindowDelegateProxy(), Screen(), Screen())
proxy.add(screen)
proxy.add(other)
(proxy as any ThemesDelegate).themesColorChanged("red")
proxy.windowMoved(to: 3)
print("screens", proxy.screens())
let console = LoudConsole()
print(try console.send(Message<(Int) -> Bool>("restart:"), 2), try console.send(Message<() -> String>("shout")))
withExtendedLifetime((screen, other)) {}
