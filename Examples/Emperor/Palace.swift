// Palace.swift: the emperor's calls, and a proxy that forwards them to hired servants.
// Example: Emperor.

import Forwardcast

struct Meal: Sendable {
  let occasion: String
  let dishes: [String]
}

/// A servant hears of meals and says how many minutes he needs. The proxy adds up the minutes.
@Forwarded
protocol Servant: AnyObject {
  func mealAnnounced(_ meal: Meal)
  @Answer(.sum) func minutesNeeded() -> Int
}

/// A servant that is also asked about each dish.
@Forwarded(inheriting: (any Servant).self)
protocol Taster: Servant {
  @Answer(.every) func isSafe(_ dish: String) -> Bool
}

final class Emperor {
  /// The proxy holds servants weakly, so the emperor retains none.
  private let servants = ServantProxy()
  /// `Taster` refines `Servant`, so this proxy is a servant itself, and tasters hear of meals too.
  private let tasters = TasterProxy()

  init() { servants.add(tasters) }

  func hire(_ servant: any Servant) { servants.add(servant) }
  func trust(_ taster: any Taster) { tasters.add(taster) }

  /// Calls every hired servant, in the order of hiring.
  func announce(_ meal: Meal) {
    print("the emperor announces \(meal.occasion): \(meal.dishes.joined(separator: ", "))")
    let heard = servants.broadcast(ServantProxy.Messages.mealAnnounced, meal).delivered
    for dish in meal.dishes where !tasters.isSafe(dish) { print("  \(dish) will not be served") }
    print("\(heard) heard")
  }

  /// Returns the sum of all results. A notification could not return one.
  func minutesUntilServed() -> Int { servants.minutesNeeded() }

  /// Calls the same method and combines the results in another way.
  func longestDish() throws -> Int { try servants.minutesNeeded(returning: .reduce(0, max)) }
}
