// MessageAnswers.swift: the answers of one message, for its hooks.

/// A type-erased list of answers, in delivery order.
@usableFromInline
class MessageAnswers {
  /// The type of the answers; `nil` if there are none.
  @usableFromInline final let type: ObjectIdentifier?

  @usableFromInline
  init(_ type: ObjectIdentifier?) { self.type = type }

  var boxes: [ArgumentBox] { [] }

  /// Calls `body` with each of the ``boxes``, without creating an array.
  func forEachBox(_ body: (borrowing ArgumentBox) throws -> Void) rethrows { for box in boxes { try body(box) } }

  var count: Int { 0 }

  // Immutable, so threads may share it.
  @usableFromInline nonisolated(unsafe) static let none = MessageAnswers(nil)
}

@usableFromInline
final class TypedAnswers<R>: MessageAnswers {
  @usableFromInline let list: [R]
  /// True if `R` is known to be `Sendable`.
  @usableFromInline let crosses: Bool

  @export(implementation)
  init(_ list: [R], crosses: Bool = false) {
    (self.list, self.crosses) = (list, crosses)
    super.init(ObjectIdentifier(R.self))
  }

  @export(implementation) @inline(__always)
  static func list(_ list: [R], crosses: Bool) -> MessageAnswers {
    list.isEmpty ? .none : TypedAnswers(list, crosses: crosses)
  }

  /// True if `other` shares the list's storage, so it is an unchanged copy of the list.
  @export(implementation) @inline(__always)
  func hasSameStorage(as other: [R]) -> Bool {
    list.withUnsafeBufferPointer { list in
      other.withUnsafeBufferPointer { $0.baseAddress == list.baseAddress && $0.count == list.count }
    }
  }

  override var boxes: [ArgumentBox] {
    if R.self == ArgumentBox.self { return unsafeBitCast(list, to: [ArgumentBox].self) }
    return list.map { ArgumentBox(storage: $0, isSendable: crosses) }
  }

  override var count: Int { list.count }
}

/// Answers with their targets, for a report. Either all answers have a result, or none has.
final class ListedAnswers: MessageAnswers {
  @exclusivity(unchecked) private(set) var list: [DeliveryReport.Answer] = []
  private var hasResults = true

  init() { super.init(ObjectIdentifier(ListedAnswers.self)) }

  func add(_ answer: consuming ArgumentBox, of target: consuming AnyObject) {
    list.append(.init(target: target, result: answer))
  }

  /// Replaces each result with what `next` returns; `nil` removes the result.
  func replaceResults(_ next: () -> ArgumentBox?) {
    for index in list.indices { list[index] = .init(target: list[index].target, result: next()) }
    hasResults = list.last?.result != nil
  }

  override var boxes: [ArgumentBox] {
    guard hasResults else { return [] }
    // The answers are read in place, since copying an answer would retain its target.
    return list.withUnsafeBufferPointer { list in list.indices.compactMap { list[$0].result } }
  }

  override func forEachBox(_ body: (borrowing ArgumentBox) throws -> Void) rethrows {
    guard hasResults else { return }
    try list.withUnsafeBufferPointer { list in
      for index in list.indices { if let box = list[index].result { try body(box) } }
    }
  }

  override var count: Int { hasResults ? list.count : 0 }
}

extension TypedAnswers<ArgumentBox> {
  convenience init(of answered: Invocation) { self.init(answered.result.map { [$0] } ?? []) }
}

extension MessageAnswers {
  /// The answers, unboxed if necessary. Throws `typeMismatch` for an answer of another type.
  @export(implementation) @inline(__always)
  final func typed<R>(as type: R.Type, _ message: HookedMessage) throws -> [R] {
    try list(of: type) ?? converted(message)
  }

  /// The answers if they are stored as values of `type`; otherwise `nil`.
  @export(implementation) @inline(__always)
  final func list<R>(of type: R.Type) -> [R]? {
    guard let found = self.type else { return [] }
    return found == ObjectIdentifier(type) ? unsafeDowncast(self, to: TypedAnswers<R>.self).list : nil
  }

  @usableFromInline
  final func converted<R>(_ message: HookedMessage) throws -> [R] {
    // An array cast would look up each element's type.
    if R.self == ArgumentBox.self { return unsafeBitCast(boxes, to: [R].self) }
    // `map` of an unspecialized array would call a witness for each element.
    return try Array(unsafeUninitializedCapacity: count) { list, count in
      try forEachBox {
        list.initializeElement(at: count, to: try ($0 as ArgumentBox).value(of: message))
        count += 1
      }
    }
  }

  /// The last answer. Throws `nobodyResponds` if there is none and `type` requires one.
  final func single<R>(as type: R.Type, _ message: HookedMessage) throws -> R {
    if let last = try typed(as: type, message).last { return last }
    return try typedResult(of: Invocation(message.selector), from: message.receiver)
  }
}

extension ArgumentBox {
  @inline(__always)
  fileprivate func value<R>(of message: HookedMessage) throws -> R {
    if holds(R.self) { return uncheckedExactly(R.self) }
    var answered = Invocation(message.selector)
    answered.result = self
    return try typedResult(of: answered, from: message.receiver)
  }
}
