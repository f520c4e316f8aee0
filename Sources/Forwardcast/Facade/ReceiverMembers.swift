// ReceiverMembers.swift: selects a receiver's messages, and makes tables of generic classes.

/// The members that ``Receiver(_:inheriting:isolatedTo:)`` exposes as messages.
public struct ReceiverMembers: Sendable {
  private init() {}

  /// The members that are marked `@Message`.
  public static var markedMembers: ReceiverMembers { ReceiverMembers() }
  /// All members except private members, types, initializers and static members.
  public static var allMembers: ReceiverMembers { ReceiverMembers() }
}

extension SelectorTable {
  /// The table of one specialization of a generic class, created once.
  ///
  /// - Parameters:
  ///   - type: one specialization of the generic class.
  ///   - parent: the superclass's table.
  ///   - parents: the tables of refined protocols.
  ///   - rows: the methods.
  public static func shared<Target>(
    for type: Target.Type, inheriting parent: @autoclosure () -> SelectorTable? = nil,
    inheritingAll parents: @autoclosure () -> [SelectorTable] = [],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) -> SelectorTable {
    let key = ObjectIdentifier(type)
    if let known = tables.withLock({ $0[key] }) { return known }
    // If several threads create the table at the same time, all use the table that is stored first.
    let made = SelectorTable(for: type, inheritingAll: [parent()].compactMap(\.self) + parents(), rows)
    return tables.withLock { tables in
      if let known = tables[key] { return known }
      tables[key] = made
      return made
    }
  }
}

private let tables = Guarded<[ObjectIdentifier: SelectorTable]>(.init())
