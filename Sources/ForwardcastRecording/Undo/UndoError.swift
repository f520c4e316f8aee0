// UndoError.swift: why an undo history refuses.

/// Why an ``UndoHistory`` refused. The history is then as it was.
public struct UndoError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate enum Rule { case groupIsOpen, noGroupIsOpen, isPerforming, isNotDisabled }
    fileprivate let rule: Rule

    /// More than one group is open, so that it is not clear what is to be undone.
    public static let groupIsOpen = Code(rule: .groupIsOpen)
    /// A group is to be closed, and none is open.
    public static let noGroupIsOpen = Code(rule: .noGroupIsOpen)
    /// An undo or a redo is in progress.
    public static let isPerforming = Code(rule: .isPerforming)
    /// Registration is to be enabled, and it is not disabled.
    public static let isNotDisabled = Code(rule: .isNotDisabled)
  }

  /// The rule.
  public let code: Code
  /// How many groups were open.
  public let groupingLevel: Int

  /// The rule in words.
  public var description: String {
    switch code.rule {
    case .groupIsOpen: "\(groupingLevel) undo groups are open"
    case .noGroupIsOpen: "no undo group is open"
    case .isPerforming: "an undo or a redo is in progress"
    case .isNotDisabled: "registration is not disabled"
    }
  }
}
