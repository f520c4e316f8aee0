// WirePath.swift: coding paths.

/// A coding path as a linked list, converted to keys on demand, mostly for errors.
final class WirePath {
  private let key: any CodingKey
  private let outer: WirePath?
  let depth: Int

  init(_ key: any CodingKey, in outer: WirePath?) {
    (self.key, self.outer) = (key, outer)
    depth = (outer?.depth ?? 0) + 1
  }

  static func keys(_ path: WirePath?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var next = path
    while let here = next {
      keys.append(here.key)
      next = here.outer
    }
    return keys.reversed()
  }
}

/// The key of an item without a key of its own.
struct WireKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}
