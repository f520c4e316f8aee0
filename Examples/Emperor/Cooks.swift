// Cooks.swift: three cooks of three classes that share only the `Servant` protocol.
// Example: Emperor.

/// Braises pork.
final class PorkCook: Servant {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  func mealAnnounced(_ meal: Meal) { braise(meal.dishes[0]) }
  func minutesNeeded() -> Int { 120 }

  private func braise(_ dish: String) { print("  the pork cook braises \(dish)") }
}

/// Boils fish. The time depends on the size of the catch.
final class FishCook: Servant {
  private let catchOfTheDay: Int

  init(hiredBy emperor: Emperor, catchOfTheDay: Int) {
    self.catchOfTheDay = catchOfTheDay
    emperor.hire(self)
  }

  func mealAnnounced(_ meal: Meal) { boil(meal.dishes[1]) }
  func minutesNeeded() -> Int { 5 * catchOfTheDay }

  private func boil(_ dish: String) { print("  the fish cook boils \(catchOfTheDay) \(dish)") }
}

/// Fries aubergines.
final class AubergineCook: Servant {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  func mealAnnounced(_ meal: Meal) { print("  the aubergine cook fries \(meal.dishes[2])") }
  func minutesNeeded() -> Int { 25 }
}

/// Implements the same protocol, but was never hired.
final class StreetCook: Servant {
  private(set) var mealsHeardOf = 0

  func mealAnnounced(_ meal: Meal) { mealsHeardOf += 1 }
  func minutesNeeded() -> Int { 10_000 }
}
