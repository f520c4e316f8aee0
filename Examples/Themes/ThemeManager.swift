// ThemeManager.swift: the object that stores the color, and the protocol of its delegates.
// Example: Themes.

import Forwardcast

struct Color: Hashable, Sendable, CustomStringConvertible {
  var name: String
  var brightness: Double

  static let lightGrey = Color(name: "light grey", brightness: 0.8)

  var description: String { "\(name) \(brightness)" }
}

/// The delegate of the theme. The attribute generates `ThemesDelegateProxy`, which also conforms to
/// the protocol: a call of the proxy calls every screen.
@Forwarded
protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: Color)
}

@MainActor
final class ThemeManager {
  static let shared = ThemeManager()
  private init() {}

  /// Created when the first screen registers. It holds screens weakly.
  private lazy var screens = ThemesDelegateProxy()

  func add(_ screen: any ThemesDelegate) { screens.add(screen) }
  func remove(_ screen: any ThemesDelegate) { screens.remove(screen) }
  var screenCount: Int { screens.count }

  private var chosen: Color?

  /// The color of every screen: light grey until one is set.
  var color: Color {
    get { chosen ?? .lightGrey }
    set {
      chosen = newValue
      screens.themesColorChanged(newValue)
    }
  }
}
