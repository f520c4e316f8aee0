// ThemeManager.swift: the one object that knows the colour, and the protocol of those who want to hear of it.
// Example: Themes.

import Forwardcast

struct Color: Hashable, Sendable, CustomStringConvertible {
  var name: String
  var brightness: Double

  static let lightGrey = Color(name: "light grey", brightness: 0.8)

  var description: String { "\(name) \(brightness)" }
}

/// What a screen has to implement, and all that it has to. The attribute writes `ThemesDelegateProxy`, which is the
/// protocol too: calling it calls every screen.
@Forwarded
protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: Color)
}

@MainActor
final class ThemeManager {
  static let shared = ThemeManager()
  private init() {}

  /// Made when the first screen registers. It holds screens weakly.
  private lazy var screens = ThemesDelegateProxy()

  func add(_ screen: any ThemesDelegate) { screens.add(screen) }
  func remove(_ screen: any ThemesDelegate) { screens.remove(screen) }
  var screenCount: Int { screens.count }

  private var chosen: Color?

  /// The colour of every screen: light grey until somebody chooses one.
  var color: Color {
    get { chosen ?? .lightGrey }
    set {
      chosen = newValue
      screens.themesColorChanged(newValue)
    }
  }
}
