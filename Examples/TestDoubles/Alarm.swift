// Alarm.swift: the code under test, which calls somebody if a boiler is too hot.
// Example: TestDoubles.

import Forwardcast

@Forwarded
protocol Thermometer: AnyObject, Sendable {
  func temperature(of boiler: String) async throws -> Double
}

@Forwarded
protocol Phone: AnyObject, Sendable {
  func call(_ number: Int, saying text: String) throws
  func hangUp()
}

struct Broken: Error {}

/// Checks a boiler once a minute. Over 90 degrees it calls the guard or, if that fails, the boss.
struct Alarm<C: Clock>: Sendable where C.Duration == Duration {
  let thermometer: any Thermometer
  let phone: any Phone
  let clock: C

  func watch(_ boiler: String, rounds: Int) async throws {
    for _ in 0..<rounds {
      let degrees = (try? await thermometer.temperature(of: boiler)) ?? .infinity
      if degrees > 90 { warn("\(boiler): \(degrees) degrees") }
      try await clock.sleep(for: .seconds(60))
    }
  }

  private func warn(_ text: String) {
    do { try phone.call(1, saying: text) } catch { try? phone.call(2, saying: text) }
    phone.hangUp()
  }
}
