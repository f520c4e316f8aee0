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

final class ThemeSwitch {
  let pages = ThemeDelegateProxy()

  func choose(_ color: String) {
    pages.themeChanged(to: color)
  }
}

let theme = ThemeSwitch()
let home = ThemePage("home")
var settings: ThemePage? = ThemePage("settings")
theme.pages.add(home)
if let settings { theme.pages.add(settings) }
theme.choose("plum")

settings = nil
theme.choose("sand")
print(home.color, theme.pages.count)  // sand 1
