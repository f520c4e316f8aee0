// SelectorTable.swift: maps selectors to methods, with inheritance and changes at run time.

import Synchronization

/// The methods of a class, an object, or a ``BareReceiver``, by selector.
///
///     final class Screen: MessageReceiver {
///       static let selectorTable = SelectorTable(for: Screen.self) {
///         Responds(to: .themesColorChanged) { screen, color in
///           screen.background = color
///         }
///       }
///     }
///
/// A table is a reference: copies are the same table, and changes apply to the next message
/// everywhere. All members are thread-safe.
///
/// A row with a wrong number of arguments, wrong types, or a duplicate selector is rejected. The
/// initializer lists it in ``refusals``, and messages of its selector throw the error. ``add(_:)``
/// throws immediately.
public struct SelectorTable: Sendable {
  let storage: TableStorage

  /// Creates a table for instances of `Target`: a class, or a protocol whose conforming classes
  /// need no table. `parent` is the superclass's table, used for selectors without a row here.
  public init<Target>(
    for type: Target.Type, inheriting parent: SelectorTable? = nil,
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) {
    self.init(for: type, inheriting: parent, rows: rows())
  }

  /// Creates a table from an array of rows.
  public init<Target>(
    for type: Target.Type, inheriting parent: SelectorTable? = nil, rows: [Responds<Target>]
  ) {
    storage = TableStorage(for: type, parent: parent?.storage)
    storage.enterOrRefuse(rows.map(\.method))
  }

  /// Adds a method, which may override an inherited method.
  ///
  /// - Throws: `alreadyInTable`, `wrongArgumentCount`, or `typeMismatch` if the row is for another
  ///   target type or its closure does not fit its encoding. The table is then unchanged.
  public func add<Target>(_ row: Responds<Target>) throws(MessageError) {
    try storage.checkTarget(Target.self, row.method.selector)
    try storage.enter(row.method, replacing: false)
    TableEpoch.advance()
  }

  /// Replaces this table's own method for the selector, or adds a method.
  ///
  /// - Returns: the replaced method; `nil` if the table had none of its own.
  /// - Throws: as ``add(_:)``, except `alreadyInTable`.
  @discardableResult
  public func replace<Target>(_ row: Responds<Target>) throws(MessageError) -> TableMethod? {
    try storage.checkTarget(Target.self, row.method.selector)
    let old = try storage.enter(row.method, replacing: true)
    TableEpoch.advance()
    return old.map { TableMethod(method: $0, owner: storage) }
  }

  /// Removes this table's own method, so an inherited one applies. Returns false if there is none.
  @discardableResult
  public func remove(_ selector: MessageSelector) -> Bool {
    let removed = storage.remove(selector)
    if removed { TableEpoch.advance() }
    return removed
  }

  /// True if this table or an inherited one has a method for `selector`.
  public func responds(to selector: MessageSelector) -> Bool { storage.method(for: selector) != nil }

  /// The signature of the method for `selector`; `nil` if there is none.
  public func signature(for selector: MessageSelector) -> MethodSignature? { storage.method(for: selector)?.signature }

  /// The selectors of all methods, own and inherited, sorted by name.
  @inline(never) public var selectors: [MessageSelector] { inOrder(Array(storage.selectors)) { $0.name } }

  /// The errors of the initializer's rejected rows, sorted by selector.
  public var refusals: [MessageError] { storage.refusals }
}

extension SelectorTable: CustomStringConvertible {
  /// One line per selector, with its encoding.
  public var description: String {
    selectors.map { "- \($0) \(signature(for: $0)?.description ?? "")" }.joined(separator: "\n")
  }
}

/// Collects the rows of a ``SelectorTable``.
@resultBuilder
public enum SelectorTableBuilder<Target> {
  /// One row.
  public static func buildExpression(_ row: Responds<Target>) -> [Responds<Target>] { [row] }
  /// Several rows at once.
  public static func buildExpression(_ rows: [Responds<Target>]) -> [Responds<Target>] { rows }
  /// Rows one after another.
  public static func buildBlock(_ rows: [Responds<Target>]...) -> [Responds<Target>] { rows.flatMap { $0 } }
  /// The rows of an `if`.
  public static func buildOptional(_ rows: [Responds<Target>]?) -> [Responds<Target>] { rows ?? [] }
  /// The rows of an `if` with `else`.
  public static func buildEither(first rows: [Responds<Target>]) -> [Responds<Target>] { rows }
  /// The rows of an `else`.
  public static func buildEither(second rows: [Responds<Target>]) -> [Responds<Target>] { rows }
  /// The rows of a `for`.
  public static func buildArray(_ rows: [[Responds<Target>]]) -> [Responds<Target>] { rows.flatMap { $0 } }
}

/// Counts the changes of all tables in the process. A cache is valid while the count is unchanged.
@usableFromInline
package enum TableEpoch {
  private static let counter = Atomic<UInt>(1)

  package static var current: UInt { counter.load(ordering: .acquiring) }
  package static func advance() { counter.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

/// Caches the last class that passed a check, so that its next object needs one comparison.
struct LastClass: ~Copyable {
  private let word = Atomic<UInt>(0)

  func contains(_ type: ObjectIdentifier) -> Bool { word.load(ordering: .relaxed) == UInt(bitPattern: type) }
  func note(_ type: ObjectIdentifier) { word.store(UInt(bitPattern: type), ordering: .relaxed) }
}

/// The contents of a table. All mutable state is in `state`, under its lock.
final class TableStorage: Sendable {
  private struct State {
    /// The rows without their hooks. The table retains each row.
    private(set) var rows = IdentityTable<Method>()
    private(set) var refusals: [(selector: MessageSelector, error: MessageError)] = []
    var hooks = FirstInFirstOut<Hook>() {
      didSet {
        for method in hooked.values { outdated += [method.row, method.method] }
        hooked = .init()
      }
    }
    /// Caches the methods with their hooks, for own and inherited rows.
    private var hooked: [MessageSelector: Hooked] = .init()
    /// Removed methods. These may be the last references, so they are released outside the lock.
    var outdated: [Method] = []

    typealias Hooked = (row: Method, method: Method)

    /// The own method with hooks, whether its row was rejected, and whether a hook has the
    /// selector.
    mutating func find(_ selector: MessageSelector) -> (method: Method?, refused: Bool, hasHook: Bool) {
      let (row, refused) = (row(selector), refusal(selector) != nil)
      if hooks.isEmpty { return (row, refused, false) }
      let hasHook = !hooks.filter { $0.selector == selector }.isEmpty
      return (row.map { surrounded($0, selector, isOwn: true) }, refused, hasHook)
    }

    func row(_ selector: MessageSelector) -> Method? { rows.find(selector.identity)?.takeUnretainedValue() }

    /// A row with its hooks. A hook for every message surrounds this table's own rows only. A hook
    /// for a selector surrounds an inherited row too.
    mutating func surrounded(_ row: Method, _ selector: MessageSelector, isOwn: Bool) -> Method {
      if let known = hooked[selector], known.row === row { return known.method }
      let around = hooks.filter { isOwn ? $0.isFor(selector) : $0.selector == selector }
      let method = around.isEmpty ? row : row.hooked(by: HookChain(hooks: around)).replacing(row)
      replaceHooked(selector, (row, method))
      return method
    }

    /// Sets or removes a row. Returns the old row.
    @inline(never) @discardableResult
    mutating func set(_ selector: MessageSelector, _ method: Method?) -> Method? {
      replaceHooked(selector, nil)
      let old = row(selector)
      if let old {
        rows.remove(old)
        Unmanaged.passUnretained(old).release()
        outdated.append(old)
      }
      if let method { _ = rows.enter(Unmanaged.passRetained(method).takeUnretainedValue()) }
      return old
    }

    private mutating func replaceHooked(_ selector: MessageSelector, _ new: Hooked?) {
      guard let old = Swift.exchange(&hooked[selector], with: new) else { return }
      outdated += [old.row, old.method]
    }

    func refusal(_ selector: MessageSelector) -> MessageError? {
      refusals.isEmpty ? nil : refusals.first { $0.selector == selector }?.error
    }

    /// Swift names of requirements, separated by spaces.
    var names = ""

    @inline(never)
    mutating func refuse(_ selector: MessageSelector, _ error: MessageError?) {
      if !refusals.isEmpty { refusals.removeAll { $0.selector == selector } }
      if let error { refusals.append((selector, error)) }
    }
  }

  private let state = Guarded(State())
  let parent: TableStorage?
  let targetName: String
  private let targetID: ObjectIdentifier
  private let accepts: @Sendable (AnyObject) -> Bool
  private let isSubtype: @Sendable (any Any.Type) -> Bool
  private let isForClass: Bool
  private let accepted = LastClass()
  /// The last class that was found not to conform to ``ObjectTableOwning``.
  let ownsNoTables = LastClass()
  /// The last class that was found without its own ``MessageReceiver/resolveMethod(for:)``.
  let resolvesNothing = LastClass()

  convenience init<Target>(for type: Target.Type, parent: TableStorage?) {
    self.init(type, { $0 is Target || ($0 as? ValueTarget)?.value is Target }, { $0 is Target.Type }, parent)
  }

  @inline(never)
  private init(
    _ type: any Any.Type, _ accepts: @escaping @Sendable (AnyObject) -> Bool,
    _ isSubtype: @escaping @Sendable (any Any.Type) -> Bool, _ parent: TableStorage?
  ) {
    targetName = "\(type)"
    targetID = ObjectIdentifier(type)
    self.accepts = accepts
    // Conformance to a protocol can only be checked for an object, when a method is looked up.
    isForClass = type is AnyObject.Type
    self.isSubtype = isSubtype
    self.parent = parent.flatMap { !$0.isForClass || $0.isSubtype(type) ? $0 : nil }
    guard let parent, self.parent == nil else { return }
    for selector in parent.selectors {
      let error = MessageError(
        .typeMismatch, of: self, selector,
        "a table for \(targetName) cannot inherit the table for \(parent.targetName); pass the table of a superclass")
      state.withLock { $0.refuse(selector, error) }
    }
  }

  deinit {
    for row in state.withLock({ $0.rows.all }) { row.release() }
  }

  /// Changes the state under the lock. Releases replaced methods after the lock, since their
  /// captures may have a `deinit`.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, outdated) = state.withLock { (body(&$0), Swift.exchange(&$0.outdated, with: [])) }
    withExtendedLifetime(outdated) {}
    return result
  }

  func acceptsTarget(_ object: AnyObject) -> Bool {
    let type = ObjectIdentifier(type(of: object))
    if accepted.contains(type) { return true }
    guard accepts(object) else { return false }
    // Values of all types share one wrapper class, so each value is checked.
    if !standsForValue(object) { accepted.note(type) }
    return true
  }

  /// The own or inherited method with its hooks. A rejected row hides the inherited method.
  func find(_ selector: MessageSelector) -> TableMethod? {
    // This is a loop, since a sequence allocates in unoptimized code.
    var (next, hooked): (TableStorage?, [TableStorage]) = (self, [])
    while let here = next {
      let (method, refused, hasHook) = here.change { $0.find(selector) }
      if let method {
        let outermost = hooked.reversed().reduce(method) { inner, table in
          table.change { $0.surrounded(inner, selector, isOwn: false) }
        }
        return TableMethod(method: outermost, owner: here, hooked: hooked)
      }
      if refused { return nil }
      if hasHook { hooked.append(here) }
      next = here.parent
    }
    return nil
  }

  func method(for selector: MessageSelector) -> Method? { find(selector)?.method }

  /// The method for `selector`. Throws the error of a rejected row, or `typeMismatch` if the table
  /// of the method or of one of its hooks does not accept `object`.
  func method(for selector: MessageSelector, on object: AnyObject) throws(MessageError) -> Method? {
    guard let found = find(selector) else {
      if let refusal = refusal(for: selector) { throw refusal }
      return nil
    }
    try checkAccepts(object, selector)
    let isOwn = found.owner === self || found.owner.isForClass
    if !isOwn || !found.hooked.isEmpty { try found.checkAccepts(object) }
    return found.method
  }

  func refusal(for selector: MessageSelector) -> MessageError? {
    var next: TableStorage? = self
    while let here = next {
      if let refusal = here.state.withLock({ $0.refusal(selector) }) { return refusal }
      next = here.parent
    }
    return nil
  }

  func hasRefused(_ selector: MessageSelector) -> Bool { state.withLock { $0.refusal(selector) != nil } }

  var refusals: [MessageError] {
    inOrder(state.withLock { $0.refusals }.map(\.error)) { $0.selector }
  }

  var selectors: Set<MessageSelector> {
    var (all, nearer): (Set<MessageSelector>, [TableStorage]) = ([], [])
    for here in sequence(first: self, next: \.parent) {
      // A rejected row hides the inherited method.
      all.formUnion(here.ownSelectors.filter { selector in !nearer.contains { $0.hasRefused(selector) } })
      nearer.append(here)
    }
    return all
  }

  private var ownSelectors: [MessageSelector] {
    state.withLock { $0.rows.all.map { $0._withUnsafeGuaranteedRef { $0.selector } } }
  }

  func name(_ names: String) {
    let more = " " + names
    state.withLock { if !$0.names.hasSuffix(more) { $0.names += more } }
  }

  var swiftNames: String { state.withLock { $0.names } + (parent.map { " " + $0.swiftNames } ?? "") }

  @inline(never) func ownMethod(for selector: MessageSelector) -> Method? { state.withLock { $0.row(selector) } }

  /// Changes the hooks. The caller must retain removed hooks until the lock is released.
  func changeHooks(_ change: @Sendable (inout FirstInFirstOut<Hook>) -> Void) {
    self.change { change(&$0.hooks) }
    TableEpoch.advance()
  }

  func checkAccepts(_ object: AnyObject, _ selector: MessageSelector, hooksOnly: Bool = false) throws(MessageError) {
    guard !acceptsTarget(object) else { return }
    let type = typeName(of: object)
    throw MessageError(
      .typeMismatch, of: object, selector,
      hooksOnly
        ? "the inherited table for \(targetName) has a hook, but the receiver is of type \(type); install the hook on a "
          + "table for that type"
        : "the table is for \(targetName), but the receiver is of type \(type); create a table for that type")
  }

  func checkTarget<Target>(_ type: Target.Type, _ selector: MessageSelector) throws(MessageError) {
    guard ObjectIdentifier(Target.self) != targetID else { return }
    throw MessageError(
      .typeMismatch, of: self, selector, "the row is for \(Target.self), but the table is for \(targetName)")
  }

  /// Adds rows. If a row is rejected, the table gets no row for that selector: if two rows have one
  /// selector, either of the two may be the wrong one.
  @inline(never)
  func enterOrRefuse(_ methods: [Method]) {
    var refused: Set<MessageSelector> = []
    for method in methods where !refused.contains(method.selector) {
      do { try enter(method, replacing: false) } catch {
        refused.insert(method.selector)
        let isTwice = error.code == .alreadyInTable
        let refusal =
          isTwice
          ? MessageError(
            .alreadyInTable, of: self, method.selector, "two rows have this selector, so the table uses neither")
          : error
        change {
          $0.refuse(method.selector, refusal)
          $0.set(method.selector, nil)
        }
      }
    }
  }

  @discardableResult
  @inline(never) func enter(_ method: Method, replacing: Bool) throws(MessageError) -> Method? {
    let selector = method.selector
    guard let old = try enter(method, where: { replacing || $0 == nil }) else {
      throw MessageError(.alreadyInTable, of: self, selector, "the table already has a method for this selector")
    }
    return old
  }

  /// Checks and adds a row. Returns the replaced row; `nil` if `mayEnter` did not allow the row.
  @inline(never)
  func enter(_ method: Method, where mayEnter: (Method?) -> Bool) throws(MessageError) -> Method?? {
    let selector = method.selector
    guard method.numberOfParameters == selector.numberOfArguments else {
      throw .parameterCount(selector, receiver: targetName, "the row", found: method.numberOfParameters)
    }
    try method.checkEncoding(receiver: targetName)
    return change { state in
      guard mayEnter(state.row(selector)) else { return nil }
      state.refuse(selector, nil)
      return .some(state.set(selector, method))
    }
  }

  func remove(_ selector: MessageSelector) -> Bool { change { $0.set(selector, nil) } != nil }
}
