// Palace.swift: what the emperor says, and the steward who tells exactly those who were hired.
// Example: Emperor.

import Forwardcast

struct Meal: Sendable {
  let occasion: String
  let dishes: [String]
}

/// Who serves: told of meals, and asked for how long he needs, which is one sum of all.
@Forwarded
protocol Servant: AnyObject {
  func mealAnnounced(_ meal: Meal)
  @Answer(.sum) func minutesNeeded() -> Int
}

/// Is asked for each dish, besides.
@Forwarded(inheriting: (any Servant).self)
protocol Taster: Servant {
  @Answer(.every) func isSafe(_ dish: String) -> Bool
}

final class Emperor {
  /// Servants are held weakly: the emperor owns nobody.
  private let servants = ServantProxy()
  /// A proxy of a protocol that refines `Servant` is a servant: what all hear, tasters hear.
  private let tasters = TasterProxy()

  init() { servants.add(tasters) }

  func hire(_ servant: any Servant) { servants.add(servant) }
  func trust(_ taster: any Taster) { tasters.add(taster) }

  /// Everybody hired hears it, in the order of hiring, and nobody else does.
  func announce(_ meal: Meal) {
    print("the emperor announces \(meal.occasion): \(meal.dishes.joined(separator: ", "))")
    let heard = servants.broadcast(ServantProxy.Messages.mealAnnounced, meal).delivered
    for dish in meal.dishes where !tasters.isSafe(dish) { print("  \(dish) will not be served") }
    print("\(heard) heard")
  }

  /// A notification could not be answered; a multicast is, by all who have something to say.
  func minutesUntilServed() -> Int { servants.minutesNeeded() }

  /// The same question, and another answer made of all.
  func longestDish() throws -> Int { try servants.minutesNeeded(returning: .reduce(0, max)) }
}
