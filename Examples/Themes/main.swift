// main.swift: one tap changes the color of every screen, while screens come and go.
// Example: Themes. Run it with `swift run themes`.

let theme = ThemeManager.shared
print("the theme is \(theme.color)")

let home = Screen("home")
home.load()
home.tap()

// New screens register when they load. They need not know about each other.
let list = home.push("list")
list.push("detail").tap()
print("\(theme.screenCount) screens listen")

// The detail screen need not be removed, because the manager holds it weakly.
list.pop()
home.tap()
print("\(theme.screenCount) screens listen")

// A screen can be removed explicitly.
theme.remove(home)
list.tap()

// Prints:
// the theme is light grey 0.8
// home loads in light grey 0.8
// home is tapped
//   home turns teal 0.5
// list loads in teal 0.5
// detail loads in teal 0.5
// detail is tapped
//   home turns plum 0.4
//   list turns plum 0.4
//   detail turns plum 0.4
// 3 screens listen
// detail is gone
// home is tapped
//   home turns sand 0.9
//   list turns sand 0.9
// 2 screens listen
// list is tapped
//   list turns teal 0.5
