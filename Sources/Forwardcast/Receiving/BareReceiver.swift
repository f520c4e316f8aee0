// BareReceiver.swift: a receiver without a class of its own.

/// A receiver made of a table of closures, without a class.
///
///     let bell = BareReceiver {
///       Responds(to: "ring:") { (_: BareReceiver, times: Int) in
///         print("ding", times)
///       }
///     }
public final class BareReceiver: MessageReceiver, Sendable {
  /// Empty, since each receiver has a table in ``objectTable``.
  public static let selectorTable = SelectorTable(for: BareReceiver.self, rows: [])
  private let table: SelectorTable

  /// Creates a receiver that answers from `table`, which other receivers may share.
  public init(table: SelectorTable) { self.table = table }

  /// Creates a receiver with a table of its own.
  public convenience init(@SelectorTableBuilder<BareReceiver> _ rows: () -> [Responds<BareReceiver>]) {
    self.init(table: SelectorTable(for: BareReceiver.self, rows))
  }

  /// The receiver's table.
  public var objectTable: SelectorTable? { table }
}
