// Dog.swift: who comes later and is no cook; nothing outside this file changes for it.
// Example: Emperor.

import Forwardcast

/// Helps in the kitchen, and has no opinion on how long a meal takes.
@Receiver
final class Dog {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  @Message func mealAnnounced(_ meal: Meal) { print("  the dog fetches firewood") }
}
