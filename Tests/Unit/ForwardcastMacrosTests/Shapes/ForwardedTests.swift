// ForwardedTests.swift: a generated proxy that conforms to its protocol.

import Forwardcast
import TestSupport
import Testing

@Forwarded
private protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: Int)
  func progress(of item: String) throws -> Double
  @Answer(.every) func mayClose() -> Bool
  @Answer(.last, otherwise: "untitled") var title: String { get }
}

private final class Screen: ThemesDelegate {
  var colors: [Int] = []
  let title: String
  init(_ title: String) { self.title = title }
  func themesColorChanged(_ color: Int) { colors.append(color) }
  func progress(of item: String) throws -> Double { Double(item.count) }
  func mayClose() -> Bool { title != "busy" }
}

@Suite("@Forwarded")
struct ForwardedTests {
  @Test("a call on the generated class reaches every target, and the answers are combined")
  func callsReachTargets() throws {
    let themes = ThemesDelegateProxy()
    let (home, busy) = (Screen("home"), Screen("busy"))
    expect(themes.title, equals: "untitled")
    expect(themes.mayClose())
    #expect(throws: MessageError.self) { try themes.progress(of: "logo") }
    themes.add(home)
    themes.add(busy)
    themes.themesColorChanged(3)
    expect(home.colors, equals: [3])
    expect(busy.colors, equals: [3])
    expect(!themes.mayClose())
    expect(themes.title, equals: "busy")
    try expect(themes.progress(of: "logo"), equals: 4)
    try expect(themes.progress(of: "logo", returning: .sum), equals: 8)
    try expect(themes.title(returning: .all), equals: ["home", "busy"])
    expect(themes.responds(to: "progressOf:"))
    var heard: [Int] = []
    themes.on(ThemesDelegateProxy.Messages.themesColorChanged) { heard.append($0) }
    themes.themesColorChanged(4)
    expect(heard, equals: [4])
    themes.dynamic.themesColorChanged(5)
    expect(heard, equals: [4, 5])
    let named: any ThemesDelegate = themes
    named.themesColorChanged(6)
    expect(heard, equals: [4, 5, 6])
    expect(busy.colors, equals: [3, 4, 5, 6])
    withExtendedLifetime((home, busy, themes)) {}
  }

  @Test("a call through the protocol reaches the generated class beside one other conforming class, also if optimized")
  func oneOtherClass() {
    let proxy = SoleDelegateProxy()
    let sole = Sole()
    proxy.add(sole)
    let named: any SoleDelegate = proxy
    named.changed(7)
    expect(sole.values, equals: [7])
    let refining: any RefiningSoleDelegate = RefiningSoleDelegateProxy()
    refining.changed(8)
    refining.ended()
    withExtendedLifetime((sole, proxy)) {}
  }

  @Test("a call through the protocol reaches the generated class as the only conforming class, also if optimized")
  func noOtherClass() {
    let proxy = LonelyDelegateProxy()
    var heard: [Int] = []
    proxy.on(LonelyDelegateProxy.Messages.changed) { heard.append($0) }
    let named: any LonelyDelegate = proxy
    named.changed(7)
    expect(heard, equals: [7])
  }
}

@Forwarded
private protocol SoleDelegate: AnyObject {
  func changed(_ value: Int)
}

@Forwarded(inheriting: (any SoleDelegate).self)
private protocol RefiningSoleDelegate: SoleDelegate {
  func ended()
}

private final class Sole: SoleDelegate {
  var values: [Int] = []
  func changed(_ value: Int) { values.append(value) }
}

@Forwarded
private protocol LonelyDelegate: AnyObject {
  func changed(_ value: Int)
}
