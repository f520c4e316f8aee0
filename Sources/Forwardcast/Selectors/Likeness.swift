// Likeness.swift: finds words that are similar to a misspelled one.

package enum Likeness {
  /// The maximum length of the text, in characters, and the maximum number of candidates.
  package static let (lengthLimit, candidateLimit) = (64, 2000)

  /// At most three of `candidates`, best first. They differ from `text` by one change, or by at most
  /// one change for every three letters of `text`. The word `With`, which Swift inserts into
  /// selectors, counts as one letter.
  package static func nearest(to text: String, among candidates: some Sequence<String>) -> [String] {
    let wanted = Array(text.lowercased())
    guard (2...lengthLimit).contains(wanted.count) else { return [] }
    var found: [(word: String, distance: Int)] = []
    for word in Set(candidates.prefix(candidateLimit)) where word != text && word.utf8.count <= 4 * lengthLimit {
      let letters = Array(word.lowercased())
      var distance = distance(wanted, letters)
      if let start = letters.indices.dropLast(3).first(where: { letters[$0..<$0 + 4].elementsEqual("with") }) {
        distance = min(distance, Self.distance(wanted, Array(letters[..<start] + letters[(start + 4)...])) + 1)
      }
      if distance <= max(1, wanted.count / 3) { found.append((word, distance)) }
    }
    found.sort { ($0.distance, $0.word) < ($1.distance, $1.word) }
    return found.prefix(3).map(\.word)
  }

  /// The number of letters to insert, remove, change or swap with a neighbor.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    if abs(left.count - right.count) > lengthLimit / 3 { return lengthLimit }
    var (before, last) = ([Int](), Array(0...right.count))
    for row in left.indices {
      var here = [row + 1]
      for column in right.indices {
        let change = last[column] + (left[row] == right[column] ? 0 : 1)
        var least = min(change, last[column + 1] + 1, here[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          least = min(least, before[column - 1] + 1)
        }
        here.append(least)
      }
      (before, last) = (last, here)
    }
    return last[right.count]
  }
}
