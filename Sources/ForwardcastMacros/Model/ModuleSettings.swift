// ModuleSettings.swift: compiler settings that expansions depend on.

struct ModuleSettings {
  var isMainActorByDefault = false
  /// Whether nonisolated async methods run in the isolation of their caller.
  var isNonsendingByDefault = false
  /// Whether `some` parameters open existentials of self-conforming types, as in Swift 6 mode.
  var opensAll = true
  /// Whether an import without an access level is internal.
  var hasInternalImports = false
}

struct SourcePlace {
  let file: String
  let line: Int

  /// - Returns: `nil` in an expansion's buffer, and if the file name needs escapes in a literal.
  init?(file: String, line: Int) {
    let isPlain = !file.contains { "\"\\\n\r".contains($0) }
    guard isPlain, !file.isEmpty, !file.hasPrefix("@"), line > 0 else { return nil }
    (self.file, self.line) = (file, line)
  }

  /// `line`, a line of generated code, between directives that give it this place in the source.
  func lines(_ line: String) -> [String] {
    ["#sourceLocation(file: \"\(file)\", line: \(self.line))", line, "#sourceLocation()"]
  }
}
