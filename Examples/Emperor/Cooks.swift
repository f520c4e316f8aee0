// Cooks.swift: three cooks of three classes, who share two selectors and nothing else.
// Example: Emperor.

import Forwardcast

/// Braises pork.
@Receiver
final class PorkCook {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  @Message func mealAnnounced(_ meal: Meal) { braise(meal.dishes[0]) }
  @Message func minutesNeeded() -> Int { 120 }

  private func braise(_ dish: String) { print("  the pork cook braises \(dish)") }
}

/// Boils fish, the longer the more of it was caught.
@Receiver
final class FishCook {
  private let catchOfTheDay: Int

  init(hiredBy emperor: Emperor, catchOfTheDay: Int) {
    self.catchOfTheDay = catchOfTheDay
    emperor.hire(self)
  }

  @Message func mealAnnounced(_ meal: Meal) { boil(meal.dishes[1]) }
  @Message func minutesNeeded() -> Int { 5 * catchOfTheDay }

  private func boil(_ dish: String) { print("  the fish cook boils \(catchOfTheDay) \(dish)") }
}

/// Fries aubergines.
@Receiver
final class AubergineCook {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  @Message func mealAnnounced(_ meal: Meal) { print("  the aubergine cook fries \(meal.dishes[2])") }
  @Message func minutesNeeded() -> Int { 25 }
}

/// Cooks in the city, knows the same words, and was never hired.
@Receiver
final class StreetCook {
  private(set) var mealsHeardOf = 0

  @Message func mealAnnounced(_ meal: Meal) { mealsHeardOf += 1 }
  @Message func minutesNeeded() -> Int { 10_000 }
}
