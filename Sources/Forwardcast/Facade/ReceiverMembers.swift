// ReceiverMembers.swift: which members of a class are messages, and the tables of generic classes.

/// Which members ``Receiver(_:inheriting:isolatedTo:)`` takes.
public struct ReceiverMembers: Sendable {
  private init() {}

  /// The members that are marked `@Message`.
  public static var markedMembers: ReceiverMembers { ReceiverMembers() }
  /// All members that are not private or fileprivate. Types, initialisers and static members are no messages.
  public static var allMembers: ReceiverMembers { ReceiverMembers() }
}

extension SelectorTable {
  /// The table of one type of a generic class, made when it is first asked for.
  ///
  /// A generic type has no stored static properties; so the tables of its types are kept here, one for each.
  ///
  /// - Parameters:
  ///   - type: one type of the generic class.
  ///   - parent: the table of its superclass, where that has one.
  ///   - parents: the tables of protocols that it refines.
  ///   - rows: made once for each type.
  /// - Complexity: a lock and a look-up.
  public static func shared<Target>(
    for type: Target.Type, inheriting parent: @autoclosure () -> SelectorTable? = nil,
    inheritingAll parents: @autoclosure () -> [SelectorTable] = [],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) -> SelectorTable {
    let key = ObjectIdentifier(type)
    if let known = tables.withLock({ $0[key] }) { return known }
    // Rows and parents are asked for outside of the lock; whoever comes second takes what the first one made.
    let made = SelectorTable(for: type, inheritingAll: [parent()].compactMap(\.self) + parents(), rows)
    return tables.withLock { tables in
      if let known = tables[key] { return known }
      tables[key] = made
      return made
    }
  }
}

private let tables = Guarded<[ObjectIdentifier: SelectorTable]>(.init())
