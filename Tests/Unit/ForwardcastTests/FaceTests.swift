// FaceTests.swift: the public API of a proxy as clients use it, compiled and run.

import Dispatch
import Forwardcast
import TestSupport
import Testing

struct Color: Hashable, Sendable {
  var name: String
  static let red = Color(name: "red")
  static let none = Color(name: "none")
}

protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: Color)
}

extension Message<(Color) -> Void> { static var themesColorChanged: Self { .init("themesColorChanged:") } }
extension Message<() -> Double> { static var progress: Self { .init("progress") } }
extension Message<() -> Int> { static var unread: Self { .init("unread") } }
extension Message<(String, [UInt8]) -> Bool> { static var onAddMsg: Self { .init("onAddMsg:msgData:") } }

final class Screen: ThemesDelegate, MessageReceiver {
  var background = Color.none
  var messages: [String] = []

  func add(_ chat: String, _ data: [UInt8]) -> Bool {
    messages.append("\(chat) \(data)")
    return true
  }
  func themesColorChanged(_ color: Color) { background = color }

  static let selectorTable = SelectorTable(for: Screen.self) {
    Responds(to: .themesColorChanged) { screen, color in screen.background = color }
    Responds(to: .onAddMsg) { screen, chat, data in screen.add(chat, data) }
    Responds(to: "progress") { (screen: Screen) in 0.5 }
  }
}

extension MulticastProxy: ThemesDelegate where Interface == any ThemesDelegate {
  func themesColorChanged(_ color: Color) { broadcast(.themesColorChanged, color) }
}

@Suite("The API of a multicast proxy")
struct FaceTests {
  @Test("a proxy that conforms to its protocol is called like one object")
  func synchronousFace() throws {
    let screen = Screen()
    let themes = MulticastProxy<any ThemesDelegate>()
    themes.add(screen)
    var heard: [Color] = []
    let token = themes.on(.themesColorChanged) { color in heard.append(color) }
    themes.themesColorChanged(.red)
    expect(screen.background, equals: .red)
    themes.broadcast(.themesColorChanged, Color(name: "blue"))
    expect(heard, equals: [.red, Color(name: "blue")])
    let page = Screen()
    themes.on(.themesColorChanged, owner: page) { page, color in page.background = color }
    themes.themesColorChanged(.red)
    expect(page.background, equals: .red)
    expect(themes.explain("progress").receivers.map(\.target), equals: ["Screen"])
    heard.removeLast()
    themes.dynamic.onAddMsg("alice", msgData: [1, 2])
    expect(screen.messages, equals: ["alice [1, 2]"])
    let total = try themes.collect(.progress, returning: .sum)
    expect(total, equals: 0.5)
    let accepted = try screen.send(.onAddMsg, "alice", [1, 2])
    expect(accepted)
    var call = Invocation(
      "themesColorChanged:", signature: try MethodSignature("v@:@"), arguments: [.init(Color.red)])
    let report = try themes.forward(&call)
    expect(report.answers.count, equals: 3)
    expect(screen.background, equals: .red)
    withExtendedLifetime(page) {}
    token.cancel()
    themes.themesColorChanged(.none)
    expect(heard.count, equals: 3)
    let anything = MulticastProxy<any MessageReceiver>()
    anything.add(screen)
    expect(anything.responds(to: "progress"))
    let plain = MulticastProxy<any ThemesDelegate>(
      table: SelectorTable(for: (any ThemesDelegate).self) {
        Responds(to: .themesColorChanged) { $0.themesColorChanged($1) }
      })
    final class Bare: ThemesDelegate {
      var color = Color.none
      func themesColorChanged(_ color: Color) { self.color = color }
    }
    let bare = Bare()
    plain.add(bare)
    plain.themesColorChanged(.red)
    expect(bare.color, equals: .red)
  }
}
