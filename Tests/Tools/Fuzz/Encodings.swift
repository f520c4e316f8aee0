// Encodings.swift: parses and prints type encodings and signatures.

import Forwardcast

// The fuzzer has one thread.
nonisolated(unsafe) private let values: [ArgumentBox] = [
  .init(1), .init(0.5), .init("a"), .init(Int?.none), .init([1]), .init(true),
  .init(UnsafePointer<Int8>(bitPattern: 8)),
]
nonisolated(unsafe) private let wide: [ArgumentBox] = [
  .init(Int128.max), .init(UInt64.max), .init(-1), .init(Double.infinity), .init(Float.nan), .init(1e300),
]

func encoding(_ text: String) {
  do {
    let type = try TypeEncoding(text)
    require(type.description == text, "prints another text back")
    if isOneOf(4, text) { require((try? TypeEncoding(text)) == type, "is not what it prints") }
    require(type.matchesLeniently(type), "does not match itself")
    if let layout = type.layout {
      require(layout.size >= 0 && layout.alignment > 0, "impossible layout")
    }
    _ = type.meaning
    _ = try? values[text.utf8.count % values.count].converted(to: type)
  } catch {
    require((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    if isOneOf(4, text) { _ = "\(error)" }
  }
}

/// Parses two types separated by a space, and converts numbers of every width to each.
func twoEncodings(_ text: String) {
  let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard let first = try? TypeEncoding(parts[0]), let second = try? TypeEncoding(parts.last ?? "") else { return }
  require(first.matchesLeniently(second) == second.matchesLeniently(first), "matches one way only")
  require(first != second || first.hashValue == second.hashValue, "equal types of unequal hashes")
  for target in TypeLayout.Target.allCases {
    if let layout = first.layout(on: target) { require(layout.size >= 0 && layout.alignment > 0) }
  }
  for value in wide { _ = try? value.converted(to: first) }
  _ = (first.accepts(second), second.accepts(first))
  if let named = TypeEncoding.object(named: parts[0]) {
    require((try? TypeEncoding(named.description)) == named, "a named object is not what it prints")
  }
}

func signature(_ text: String) {
  do {
    let signature = try MethodSignature(text)
    require(signature.description == text, "prints another text back")
    for strength in MethodSignature.MatchStrength.allCases {
      require(signature.matches(signature, strength), "does not match itself")
    }
    require(signature.argumentOffsets.count == signature.numberOfArguments, "offsets for other arguments")
    require(signature.statedOffsets.count == signature.numberOfArguments, "stated offsets for other arguments")
    require((try? MethodSignature(text)) == signature && Set([signature]).contains(signature), "is not itself")
    _ = (signature.frameLength, signature.returnLength, signature.argumentLayouts, signature.isOneway)
  } catch {
    require((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    if isOneOf(4, text) { _ = "\(error)" }
  }
}
