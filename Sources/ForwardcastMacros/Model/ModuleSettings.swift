// ModuleSettings.swift: what the module says of declarations that say nothing.

/// The settings of the module that a declaration stands in, as far as written text depends on them.
struct ModuleSettings {
  /// Whether the default isolation is the main actor.
  var isMainActorByDefault = false
  /// Whether a method that suspends and says nothing stays in its caller's isolation.
  var isNonsendingByDefault = false
  /// Whether a value of type `Any` is opened for a generic argument, as in Swift 6.
  var opensAll = true
  /// Whether an import that says nothing is internal.
  var hasInternalImports = false
}

/// A line of the user's.
struct SourcePlace {
  let file: String
  let line: Int

  /// - Returns: `nil` for what stands in no file, or in one whose name a literal would not be.
  init?(file: String, line: Int) {
    let isPlain = !file.contains { "\"\\\n\r".contains($0) }
    guard isPlain, !file.isEmpty, !file.hasPrefix("@"), line > 0 else { return nil }
    (self.file, self.line) = (file, line)
  }

  /// A written line that the compiler takes for this one.
  func lines(_ line: String) -> [String] {
    ["#sourceLocation(file: \"\(file)\", line: \(self.line))", line, "#sourceLocation()"]
  }
}
