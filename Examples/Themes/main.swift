// main.swift: one tap changes the colour of every screen; screens come and go.
// Example: Themes. Run it with `swift run themes`.

let theme = ThemeManager.shared
print("the theme is \(theme.color)")

let home = Screen("home")
home.load()
home.tap()

// Further screens register as they load, and need not know of one another.
let list = home.push("list")
list.push("detail").tap()
print("\(theme.screenCount) screens listen")

// Nobody removes the detail screen: the manager holds it weakly.
list.pop()
home.tap()
print("\(theme.screenCount) screens listen")

// Whoever has heard enough may leave early.
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
