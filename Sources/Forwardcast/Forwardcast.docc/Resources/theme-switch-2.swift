import Forwardcast

@Forwarded
protocol ThemeDelegate: AnyObject {
  func themeChanged(to color: String)
}

final class ThemePage: ThemeDelegate {
  let name: String
  var color = "grey"

  init(_ name: String) { self.name = name }
  func themeChanged(to color: String) { self.color = color }
}
