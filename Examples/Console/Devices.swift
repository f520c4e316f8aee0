// Devices.swift: live objects of a host program, without any code for scripts.
// Example: Console.

import Forwardcast

extension Message<() -> Double> { static var watts: Self { .init("watts") } }
extension Message<() -> Void> { static var switchOff: Self { .init("switchOff") } }
extension Message<(String, Double) -> Void> { static var alarm: Self { .init("alarm:degrees:") } }

/// The attribute generates the table. `@Message` can state a selector.
@Receiver
final class Lamp {
  @Message private(set) var brightness: Double = 0.25

  @Message func dim(to brightness: Double) { self.brightness = min(max(brightness, 0), 1) }
  @Message func watts() -> Double { 80 * brightness }
  @Message func switchOff() { brightness = 0 }
}

@Receiver
final class Fan {
  private(set) var level = 1

  @Message("level:") func turn(to level: Int) { self.level = level }
  @Message func watts() -> Double { 15 * Double(level) }
  @Message func switchOff() { level = 0 }
}
