// Screen.swift: a screen that wears the theme's colour and can open further ones.
// Example: Themes.

final class Screen: ThemesDelegate {
  private static let palette = [
    Color(name: "teal", brightness: 0.5), Color(name: "plum", brightness: 0.4), Color(name: "sand", brightness: 0.9),
  ]

  let name: String
  private var background: Color?
  /// The screen on top of this one. Nobody else keeps it alive.
  private var pushed: Screen?

  init(_ name: String) { self.name = name }

  deinit { print("\(name) is gone") }

  /// Registers and takes the present colour, as a view does once it has loaded.
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

  /// Lets the screen on top go. It was never removed from the manager, and need not be.
  func pop() { pushed = nil }

  /// Changes the whole application to the colour that comes after this screen's own.
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
