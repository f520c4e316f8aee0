// UndoError.swift: why an undo history refuses.

/// Why an ``UndoHistory`` refused. The history is then as it was.
public struct UndoError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate let words: String

    /// More than one group is open, so that it is not clear what is to be undone.
    public static let groupIsOpen = Code(words: "undo groups are open")
    /// A group is to be closed, and none is open.
    public static let noGroupIsOpen = Code(words: "no undo group is open")
    /// An undo or a redo is in progress.
    public static let isPerforming = Code(words: "an undo or a redo is in progress")
    /// Registration is to be enabled, and it is not disabled.
    public static let isNotDisabled = Code(words: "registration is not disabled")
  }

  public let code: Code
  /// How many groups were open.
  public let groupingLevel: Int

  public var description: String { code == .groupIsOpen ? "\(groupingLevel) \(code.words)" : code.words }
}
