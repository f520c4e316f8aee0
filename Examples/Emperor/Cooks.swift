// Cooks.swift: three cooks of three classes, who share two selectors and nothing else.
// Example: Emperor.

import Forwardcast

/// Braises pork.
final class PorkCook: MessageReceiver {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  static let selectorTable = SelectorTable(for: PorkCook.self) {
    Responds(to: .mealAnnounced) { cook, meal in cook.braise(meal.dishes[0]) }
    Responds(to: .minutesNeeded) { _ in 120 }
  }

  private func braise(_ dish: String) { print("  the pork cook braises \(dish)") }
}

/// Boils fish, the longer the more of it was caught.
final class FishCook: MessageReceiver {
  private let catchOfTheDay: Int

  init(hiredBy emperor: Emperor, catchOfTheDay: Int) {
    self.catchOfTheDay = catchOfTheDay
    emperor.hire(self)
  }

  static let selectorTable = SelectorTable(for: FishCook.self) {
    Responds(to: .mealAnnounced) { cook, meal in cook.boil(meal.dishes[1]) }
    Responds(to: .minutesNeeded) { cook in 5 * cook.catchOfTheDay }
  }

  private func boil(_ dish: String) { print("  the fish cook boils \(catchOfTheDay) \(dish)") }
}

/// Fries aubergines.
final class AubergineCook: MessageReceiver {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  static let selectorTable = SelectorTable(for: AubergineCook.self) {
    Responds(to: .mealAnnounced) { _, meal in print("  the aubergine cook fries \(meal.dishes[2])") }
    Responds(to: .minutesNeeded) { _ in 25 }
  }
}

/// Cooks in the city, knows the same words, and was never hired.
final class StreetCook: MessageReceiver {
  private(set) var mealsHeardOf = 0

  static let selectorTable = SelectorTable(for: StreetCook.self) {
    Responds(to: .mealAnnounced) { cook, _ in cook.mealsHeardOf += 1 }
    Responds(to: .minutesNeeded) { _ in 10_000 }
  }
}
