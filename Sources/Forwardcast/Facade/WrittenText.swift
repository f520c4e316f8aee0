// WrittenText.swift: what text written by the attributes calls.
// Layer: Facade. See DESIGN.md, "The attributes".

/// Runs `body` with a copy of a target.
///
/// Written for setters of protocols that values may adopt as well: an instance of a class is set, of a value the copy.
@inlinable
public func withCopy<Target>(of target: Target, _ body: (inout Target) -> Void) {
  var copy = target
  body(&copy)
}

extension SelectorTable {
  /// A table for a protocol that refines others, which have tables of their own.
  ///
  /// The first of `parents` is inherited: what is added to it later is found here too. Of the others the methods are
  /// taken over as they are now.
  public init<Target>(
    for type: Target.Type, inheritingAll parents: [SelectorTable],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) {
    self.init(for: type, inheriting: parents.first, rows)
    for parent in parents.dropFirst() {
      for selector in parent.selectors where storage.method(for: selector) == nil {
        guard let method = parent.storage.method(for: selector) else { continue }
        do { try storage.enter(method, replacing: false) } catch { storage.refuse(selector, error) }
      }
    }
  }
}
