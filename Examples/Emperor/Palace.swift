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

final class Emperor {
  /// Servants are held weakly: the emperor owns nobody.
  private let servants = ServantProxy()

  func hire(_ servant: any Servant) { servants.add(servant) }

  /// Everybody hired hears it, in the order of hiring, and nobody else does.
  func announce(_ meal: Meal) {
    print("the emperor announces \(meal.occasion): \(meal.dishes.joined(separator: ", "))")
    servants.mealAnnounced(meal)
    print("\(servants.count) heard")
  }

  /// A notification could not be answered; a multicast is, by all who have something to say.
  func minutesUntilServed() -> Int { servants.minutesNeeded() }

  /// The same question, and another answer made of all.
  func longestDish() throws -> Int { try servants.minutesNeeded(returning: .reduce(0, max)) }
}
