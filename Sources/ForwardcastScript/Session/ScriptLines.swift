// ScriptLines.swift: joins lines into texts that can be run.

/// Joins lines until their brackets are closed, for an interactive session.
///
///     var lines = ScriptLines()
///     lines.add("print (1\n")     // []
///     lines.add(")\n")            // one text, from line 1
///
/// Each line is lexed once, and parsed once if the joined text is complete and may end in an `if`.
public struct ScriptLines: Sendable {
  /// Lines that can be run together.
  public struct Whole: Sendable {
    /// The lines with their line breaks.
    public let text: String
    /// The number of the first line, counted from 1.
    public let firstLine: Int
  }

  private let joinsElse: Bool
  private var text = ""
  private var firstLine = 1
  private var open: [Sign] = []
  /// True if `text` is complete but ends in an `if`, so the next line may be its `else`.
  private var mayGoOn = false
  /// The length of `text` up to the last `if` that waited for its `else`.
  private var parsedLength = 0
  /// The number of lines so far, including skipped lines.
  public private(set) var lineCount = 0
  package private(set) var examinedBytes = 0

  /// - Parameter joinsElse: true if an `if` waits for the next line, which may begin with `else`.
  ///   Pass `true` for files only: in a terminal, nothing would show that the `if` waits.
  public init(joinsElse: Bool = false) { self.joinsElse = joinsElse }

  /// True if no lines wait for further lines.
  public var isEmpty: Bool { text.isEmpty }

  /// Whether the next line may begin a new text.
  public var mayBegin: Bool { text.isEmpty || mayGoOn }

  /// Counts a line that is not part of a text.
  public mutating func skip() { lineCount += 1 }

  /// Drops the waiting lines.
  public mutating func removeAll() { (text, open, mayGoOn, parsedLength) = ("", [], false, 0) }

  /// Adds a line with its line break. Returns the texts that are now complete or invalid.
  public mutating func add(_ line: String) -> [Whole] {
    lineCount += 1
    let (first, stillOpen) = Parser.look(at: SourceText(line, name: ""), after: open)
    if mayGoOn, first == .separator, text.utf8.count <= ScriptLimits.current.text {
      text += line
      return []
    }
    let whole = mayGoOn && first != .word("else") ? finish() : []
    mayGoOn = false
    if text.isEmpty { firstLine = lineCount }
    text += line
    examinedBytes += line.utf8.count
    open = stillOpen
    guard open.isEmpty || text.utf8.count > ScriptLimits.current.text else { return whole }
    mayGoOn = joinsElse && endsInIf()
    return mayGoOn ? whole : whole + finish()
  }

  /// Returns the waiting lines, at the end of the input.
  public mutating func finish() -> [Whole] {
    defer { removeAll() }
    return text.isEmpty ? [] : [Whole(text: text, firstLine: firstLine)]
  }

  private mutating func endsInIf() -> Bool {
    let rest = text.utf8.dropFirst(parsedLength)
    let part = (parsedLength > 0 ? "if true { }\n" : "") + String(Substring(rest))
    guard part.contains("if") else { return false }
    examinedBytes += rest.count
    guard let statements = try? Parser.parse(SourceText(part, name: "")),
      case .condition(_, _, nil)? = statements.last?.kind
    else { return false }
    parsedLength = text.utf8.count
    return true
  }
}
