// Screen.swift: a screen with the theme's color, which can open further screens.
// Example: Themes.

final class Screen: ThemesDelegate {
  private static let palette = [
    Color(name: "teal", brightness: 0.5), Color(name: "plum", brightness: 0.4), Color(name: "sand", brightness: 0.9),
  ]

  let name: String
  private var background: Color?
  /// The screen on top of this one. Nothing else retains it.
  private var pushed: Screen?

  init(_ name: String) { self.name = name }

  deinit { print("\(name) is gone") }

  /// Registers the screen and gets the current color, as a view does when it has loaded.
  @MainActor
  func load() {
    ThemeManager.shared.add(self)
    background = ThemeManager.shared.color
    print("\(name) loads in \(ThemeManager.shared.color)")
  }

  @MainActor
  func push(_ name: String) -> Screen {
    let screen = Screen(name)
    pushed = screen
    screen.load()
    return screen
  }

  /// Releases the screen on top, which need not be removed from the manager.
  func pop() { pushed = nil }

  /// Changes all screens to the color that follows this screen's color in the palette.
  @MainActor
  func tap() {
    print("\(name) is tapped")
    let next = background.flatMap { Screen.palette.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    ThemeManager.shared.color = Screen.palette[next % Screen.palette.count]
  }

  func themesColorChanged(_ color: Color) {
    background = color
    print("  \(name) turns \(color)")
  }
}
