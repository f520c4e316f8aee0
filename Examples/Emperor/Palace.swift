// Palace.swift: what the emperor says, and the steward who tells exactly those who were hired.
// Example: Emperor.

import Forwardcast

struct Meal: Sendable {
  let occasion: String
  let dishes: [String]
}

extension Message<(Meal) -> Void> { static var mealAnnounced: Self { .init("mealAnnounced:") } }
extension Message<() -> Int> { static var minutesNeeded: Self { .init("minutesNeeded") } }

final class Emperor {
  /// Whoever has a selector table may be hired. Servants are held weakly: the emperor owns nobody.
  private let servants = MulticastProxy<any MessageReceiver>()

  func hire(_ servant: any MessageReceiver) { servants.add(servant) }

  /// Everybody hired hears it, in the order of hiring, and nobody else does.
  func announce(_ meal: Meal) {
    print("the emperor announces \(meal.occasion): \(meal.dishes.joined(separator: ", "))")
    let heard = servants.broadcast(.mealAnnounced, meal)
    print("\(heard.delivered) heard")
  }

  /// A notification could not be answered; a multicast is, by all who have something to say.
  func minutesUntilServed() throws -> Int { try servants.collect(.minutesNeeded, returning: .sum) }

  func longestDish() throws -> Int { try servants.collect(.minutesNeeded, returning: .reduce(0, max)) }
}
