// Dog.swift: who comes later and is no cook; nothing outside this file changes for it.
// Example: Emperor.

/// Helps in the kitchen, and needs no time of its own.
final class Dog: Servant {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  func mealAnnounced(_ meal: Meal) { print("  the dog fetches firewood") }
  func minutesNeeded() -> Int { 0 }
}
