// Animals.swift: later targets that are not cooks; no other file changes for them.
// Example: Emperor.

/// Tastes all dishes, and rejects jam.
final class Cat: Taster {
  init(trustedBy emperor: Emperor) { emperor.trust(self) }

  func mealAnnounced(_ meal: Meal) { print("  the cat comes for \(meal.occasion)") }
  func minutesNeeded() -> Int { 0 }
  func isSafe(_ dish: String) -> Bool { !dish.hasSuffix("jam") }
}

/// Helps in the kitchen, and needs no time.
final class Dog: Servant {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  func mealAnnounced(_ meal: Meal) { print("  the dog fetches firewood") }
  func minutesNeeded() -> Int { 0 }
}
