// main.swift: the calls of a till are recorded, encoded, and replayed into another till.
// Example: Replay. Run it with `swift run replay`.

import Forwardcast
import ForwardcastRecording
import Foundation

struct Empty: Error {}

/// The present till. It discounts and rounds each item.
@Receiver
final class Till {
  private var prices: [Int] = []

  @Message("add:cents:") func add(_ item: String, cents: Int) { prices.append(cents) }
  @Message func total(discount percent: Int) throws -> Int {
    if prices.isEmpty { throw Empty() }
    return prices.reduce(0) { $0 + $1 * (100 - percent) / 100 }
  }
  @Message func clear() { prices = [] }
}

/// Its replacement, which rounds once.
@Receiver
final class NextTill {
  private var sum: Int?

  @Message("add:cents:") func add(_ item: String, cents: Int) { sum = (sum ?? 0) + cents }
  @Message func total(discount percent: Int) throws -> Int {
    guard let sum else { throw Empty() }
    return sum * (100 - percent) / 100
  }
  @Message func clear() { sum = nil }
}

// The recording proxy forwards messages to the till.
let till = RecordingProxy(of: Till(), as: "till")
_ = try till.dynamic.add("tea", cents: 455)
_ = try till.dynamic.total(discount: 0)
_ = try till.dynamic.add("cups", cents: 333)
_ = try till.dynamic.total(discount: 10)
_ = try till.dynamic.clear()
_ = try? till.dynamic.total(discount: 0)

// A recording is a value. It is encoded here and decoded by the next program, with all outcomes.
let data = try JSONEncoder().encode(till.recorder.recording)
let day = try JSONDecoder().decode(Recording.self, from: data)
print(day)

print("the same again: \(try day.replay(into: Till()).isEqual(to: day) ?? false)")

let next = try day.replay(into: ["till": NextTill()])
print("the next till:  \(next.isEqual(to: day) ?? false)")
for (old, new) in zip(day.calls, next.calls) where new.isEqual(to: old) != true {
  print("  was \(old)\n  is  \(new)")
}

// All receivers are checked before any call is sent.
do { try day.replay(into: ["kiosk": NextTill()]) } catch { print(error) }

// Prints:
// [till add: "tea" cents: 455]
// [till totalWithDiscount: 0] answers 455
// [till add: "cups" cents: 333]
// [till totalWithDiscount: 10] answers 708
// [till clear]
// [till totalWithDiscount: 0] fails: Empty()
// the same again: true
// the next till:  false
//   was [till totalWithDiscount: 10] answers 708
//   is  [till totalWithDiscount: 10] answers 709
// call 0, "add:cents:", was sent to "till", but the replay has no receiver of that name; add it to replay(into:)
