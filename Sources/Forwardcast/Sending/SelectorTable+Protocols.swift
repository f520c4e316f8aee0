// SelectorTable+Protocols.swift: tables of protocols that inherit from each other.
// Layer: Sending. See DESIGN.md, "Tables and caches".

extension SelectorTable {
  /// A table for a protocol that takes over the rows of a protocol from which it inherits.
  ///
  ///     let table = SelectorTable(for: (any RoomExtension).self, inheriting: messageTable, as: { $0 as any MessageExtension }) {
  ///       Responds(to: .onEnter) { $0.onEnter($1) }
  ///     }
  ///
  /// - Parameters:
  ///   - parent: the table of the inherited protocol. One that was made for another type is not taken over: its selectors
  ///     are in ``refusals``.
  ///   - upcast: the conversion from the one to the other, by which the compiler checks that there is one.
  public init<Target, Parent>(
    for type: Target.Type, inheriting parent: SelectorTable, as upcast: (Target) -> Parent,
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) {
    self.init(storage: TableStorage(for: type, parent: parent.storage, upcast: Parent.self))
    enter(rows())
  }
}

/// The method that the tables of a class have for `selector`, found without an instance; its resolver hook is asked.
func classMethod(of type: any MessageReceiver.Type, for selector: MessageSelector) -> Method? {
  let table = type.selectorTable.storage
  if let method = table.method(for: selector) { return method }
  return ResolverHook.ask(type, selector) ? table.method(for: selector) : nil
}
