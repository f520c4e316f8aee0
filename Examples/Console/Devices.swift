// Devices.swift: live objects of a host program. They have selector tables and know nothing of scripts.
// Example: Console.

import Forwardcast

extension Message<() -> Double> { static var watts: Self { .init("watts") } }
extension Message<() -> Void> { static var switchOff: Self { .init("switchOff") } }
extension Message<(String, Double) -> Void> { static var alarm: Self { .init("alarm:degrees:") } }

final class Lamp: MessageReceiver {
  private(set) var brightness = 0.25

  static let selectorTable = SelectorTable(for: Lamp.self) {
    Responds(to: "brightness") { (lamp: Lamp) in lamp.brightness }
    Responds(to: "dimTo:") { (lamp: Lamp, brightness: Double) in lamp.brightness = min(max(brightness, 0), 1) }
    Responds(to: .watts) { lamp in 80 * lamp.brightness }
    Responds(to: .switchOff) { lamp in lamp.brightness = 0 }
  }
}

final class Fan: MessageReceiver {
  private(set) var level = 1

  static let selectorTable = SelectorTable(for: Fan.self) {
    Responds(to: "level:") { (fan: Fan, level: Int) in fan.level = level }
    Responds(to: .watts) { fan in 15 * Double(fan.level) }
    Responds(to: .switchOff) { fan in fan.level = 0 }
  }
}
