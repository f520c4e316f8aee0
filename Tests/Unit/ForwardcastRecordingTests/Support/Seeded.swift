// Seeded.swift: random choices, lists and texts that depend only on a seed.

import TestSupport

typealias Seeded = SeededGenerator

extension SeededGenerator {
  init(_ seed: Int) { self.init(seed: UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15) }

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
