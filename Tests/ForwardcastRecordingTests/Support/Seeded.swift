// Seeded.swift: random numbers that come again with their seed.
// Layer: Tests.

/// SplitMix64.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

  mutating func pick<T>(_ choices: [T]) -> T { choices[number(0...choices.count - 1)] }

  mutating func list<T>(upTo count: Int, _ make: (inout Seeded) -> T) -> [T] {
    (0..<number(0...count)).map { _ in make(&self) }
  }

  mutating func text() -> String {
    let pieces = [
      "a", "Z", "0", " ", "\"", "\\", "\n", "\t", "\r", "\u{0}", "\u{7F}", "#", ";", "]", "é", "e\u{301}", "\u{301}",
      "👩‍👩‍👧", "\u{2028}", "\u{FEFF}", "\u{202E}", "\\u{41}", "@[", "日本",
    ]
    return list(upTo: 6) { $0.pick(pieces) }.joined()
  }
}
