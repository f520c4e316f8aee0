// ScriptLines.swift: lines on their way to texts that can be run.

/// Puts lines together until their brackets are closed, for a conversation.
///
///     var lines = ScriptLines()
///     lines.add("print (1\n")     // []
///     lines.add(")\n")            // one text, of line 1
///
/// Each line is looked at once, however many belong together.
public struct ScriptLines: Sendable {
  /// Lines that can be run together.
  public struct Whole: Sendable {
    /// The lines, each with its end.
    public let text: String
    /// The number of the first, counted from 1.
    public let firstLine: Int
  }

  private let joinsElse: Bool
  private var text = ""
  private var firstLine = 1
  private var open: [Sign] = []
  /// Whether `text` is whole and ends in an `if` that an `else` may follow.
  private var mayGoOn = false
  /// How many lines have come, those that were skipped included.
  public private(set) var lineCount = 0
  /// Bytes that have been looked at for brackets.
  package private(set) var examinedBytes = 0

  /// No lines yet.
  ///
  /// - Parameter joinsElse: whether an `if` waits for the next line, which may begin with `else`, as it may in a file. A
  ///   person would wait in vain for what the `if` does.
  public init(joinsElse: Bool = false) { self.joinsElse = joinsElse }

  /// Whether lines wait for further ones.
  public var isEmpty: Bool { text.isEmpty }

  /// Whether the next line may begin something new.
  public var mayBegin: Bool { text.isEmpty || mayGoOn }

  /// Counts a line that is no part of a text.
  public mutating func skip() { lineCount += 1 }

  /// Forgets the lines that wait.
  public mutating func removeAll() { (text, open, mayGoOn) = ("", [], false) }

  /// Adds a line with its end. Gives the texts that are whole now, in order; what is not of the language is whole too.
  public mutating func add(_ line: String) -> [Whole] {
    lineCount += 1
    var whole: [Whole] = []
    if mayGoOn {
      switch Parser.firstToken(in: SourceText(line, name: "")) {
      case .separator?:
        text += line
        return []
      case .word("else")?: mayGoOn = false
      default: whole = finish()
      }
    }
    if text.isEmpty { firstLine = lineCount }
    text += line
    examinedBytes += line.utf8.count
    open = Parser.openBrackets(in: SourceText(line, name: ""), after: open)
    guard open.isEmpty || text.utf8.count > ScriptSession.textLimit else { return whole }
    mayGoOn = joinsElse && endsInIf
    return mayGoOn ? whole : whole + finish()
  }

  /// The lines that wait, as far as they came: the input has ended.
  public mutating func finish() -> [Whole] {
    defer { removeAll() }
    return text.isEmpty ? [] : [Whole(text: text, firstLine: firstLine)]
  }

  private var endsInIf: Bool {
    guard text.contains("if"), let statements = try? Parser.parse(SourceText(text, name: "")),
      case .condition(_, _, nil)? = statements.last?.kind
    else { return false }
    return true
  }
}
