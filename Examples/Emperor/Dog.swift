// Dog.swift: who comes later and is no cook; nothing outside this file changes for it.
// Example: Emperor.

import Forwardcast

/// Helps in the kitchen, and has no opinion on how long a meal takes.
final class Dog: MessageReceiver {
  init(hiredBy emperor: Emperor) { emperor.hire(self) }

  static let selectorTable = SelectorTable(for: Dog.self) {
    Responds(to: .mealAnnounced) { _, _ in print("  the dog fetches firewood") }
  }
}
