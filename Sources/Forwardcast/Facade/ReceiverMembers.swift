// ReceiverMembers.swift: which members of a class are messages, and the tables of generic classes.

/// Which members ``Receiver(_:inheriting:isolatedTo:)`` takes.
public struct ReceiverMembers: Sendable {
  private init() {}

  /// The members that are marked `@Message`.
  public static var markedMembers: ReceiverMembers { ReceiverMembers() }
  /// All members that are not private or fileprivate; not types, initializers and static members.
  public static var allMembers: ReceiverMembers { ReceiverMembers() }
}

extension SelectorTable {
  /// The table of one specialization of a generic class, made once: a generic type cannot have a stored static property.
  ///
  /// - Parameters:
  ///   - type: one specialization of the generic class.
  ///   - parent: the table of its superclass.
  ///   - parents: the tables of protocols that it refines.
  ///   - rows: the methods.
  /// - Complexity: a lock and a look-up.
  public static func shared<Target>(
    for type: Target.Type, inheriting parent: @autoclosure () -> SelectorTable? = nil,
    inheritingAll parents: @autoclosure () -> [SelectorTable] = [],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) -> SelectorTable {
    let key = ObjectIdentifier(type)
    if let known = tables.withLock({ $0[key] }) { return known }
    // Made outside of the lock; of two threads the first wins.
    let made = SelectorTable(for: type, inheritingAll: [parent()].compactMap(\.self) + parents(), rows)
    return tables.withLock { tables in
      if let known = tables[key] { return known }
      tables[key] = made
      return made
    }
  }
}

private let tables = Guarded<[ObjectIdentifier: SelectorTable]>(.init())
