// TargetCast.swift: an object as what the rows of its table take.

public import Synchronization

/// Turns the object that a message reached into the type that a row's closure takes.
///
/// The table has checked before that it fits. For a class that is a bit copy. For a protocol that only classes adopt it
/// is a search of the program's conformances, some 700 instructions, whose result is the same for each object of one
/// class: the object itself, and the witness table of the class. So each row keeps the tables that it met.
@usableFromInline
struct TargetCast<Target>: @unchecked Sendable {  // immutable; what `head` points to is exchanged atomically
  /// `nil` for a class, whose objects need none.
  @usableFromInline let tables: WitnessTables?
  /// What `tables` keeps: a row's closure would retain the owner for each message, and a pointer is only read.
  @usableFromInline let head: WitnessTables.Head?

  @inlinable
  init() {
    tables = Target.self is AnyObject.Type ? nil : WitnessTables()
    head = tables?.head
  }

  /// Calls `body` with `object` as the type that the row takes.
  @export(implementation) @inline(__always)
  func callAsFunction<R>(_ object: AnyObject, _ body: (Target) throws -> R) rethrows -> R {
    if Target.self is AnyObject.Type { return try Self.ofClass(object, body) }
    if MemoryLayout<Target>.size == MemoryLayout<(AnyObject, UInt)>.size, let head,
      let table = WitnessTables.table(of: object, from: head)
    {
      return try Self.borrowing(object, table, body)
    }
    return try body(search(object))
  }

  /// Calls `body` with `object`, which is of the class `Target`.
  @export(implementation) @inline(__always)
  static func ofClass<R>(_ object: AnyObject, _ body: (Target) throws -> R) rethrows -> R {
    try borrowing(object, 0, body)
  }

  /// Calls `body` with the reference whose words are `object` and, for an existential, `table`.
  ///
  /// They are put together in place, so that the target is not retained for it: the caller holds it.
  @export(implementation) @inline(__always)
  static func borrowing<R>(_ object: AnyObject, _ table: UInt, _ body: (Target) throws -> R) rethrows -> R {
    var words = (UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), table)
    return try withUnsafeMutablePointer(to: &words) { words in
      let place = UnsafeMutableRawPointer(words).assumingMemoryBound(to: Target.self)
      // Taken out and put back, never copied: so it is neither retained nor released.
      let target = place.move()
      do {
        let answer = try body(target)
        place.initialize(to: target)
        return answer
      } catch {
        place.initialize(to: target)
        throw error
      }
    }
  }

  /// `object` as the type that the row takes.
  func target(_ object: AnyObject) -> Target { self(object) { $0 } }

  /// The cast that the language has, whose result is kept where it is an object with a table.
  @usableFromInline @inline(never)
  func search(_ object: AnyObject) -> Target {
    guard let target = object as? Target else {
      guard let value = (object as? ValueTarget)?.value as? Target else {
        preconditionFailure("a table for \(Target.self) was used for \(Swift.type(of: object))")
      }
      return value
    }
    keep(target, of: object)
    return target
  }

  /// Keeps the table of `target`, if the two words of it are the object and a table: a value of some other type, such as
  /// a structure that an object was bridged to, is of that very type, and an existential is not.
  private func keep(_ target: Target, of object: AnyObject) {
    guard MemoryLayout<Target>.size == MemoryLayout<(AnyObject, UInt)>.size,
      Swift.type(of: target as Any) != Target.self
    else { return }
    let words = withUnsafeBytes(of: target) {
      ($0.load(as: UInt.self), $0.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self))
    }
    guard words.0 == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else { return }
    tables?.keep(words.1, of: object)
  }
}

/// The witness tables of a protocol that one row has met.
@usableFromInline
final class WitnessTables: @unchecked Sendable {  // entries are immutable; the first one is exchanged atomically
  @usableFromInline
  struct Entry {
    @usableFromInline let type: ObjectIdentifier
    @usableFromInline let table: UInt
    @usableFromInline let next: UnsafeMutablePointer<Entry>?
    /// How many follow.
    let followers: Int
  }

  @usableFromInline typealias Head = UnsafeMutablePointer<Atomic<UnsafeMutablePointer<Entry>?>>
  /// The first entry, at an address of its own.
  @usableFromInline let head: Head

  /// How many classes a row keeps: of further ones each object is cast.
  static let limit = 8

  @usableFromInline
  init() {
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(nil))
  }

  deinit {
    defer { head.deallocate() }
    var entry = head.pointee.load(ordering: .acquiring)
    while let here = entry {
      entry = here.pointee.next
      here.deallocate()
    }
  }

  /// The table of an object's class, if it was met.
  @export(implementation) @inline(__always)
  static func table(of object: AnyObject, from head: Head) -> UInt? {
    let type = ObjectIdentifier(Swift.type(of: object))
    var entry = head.pointee.load(ordering: .acquiring)
    while let here = entry {
      if here.pointee.type == type { return here.pointee.table }
      entry = here.pointee.next
    }
    return nil
  }

  func keep(_ table: UInt, of object: AnyObject) {
    let first = head.pointee.load(ordering: .acquiring)
    guard first.map({ $0.pointee.followers + 1 < Self.limit }) ?? true else { return }
    let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entry.initialize(
      to: Entry(
        type: ObjectIdentifier(type(of: object)), table: table, next: first,
        followers: first.map { $0.pointee.followers + 1 } ?? 0))
    // Another thread that was faster has kept the same, or will have it searched once more.
    if !head.pointee.compareExchange(expected: first, desired: entry, ordering: .acquiringAndReleasing).exchanged {
      entry.deallocate()
    }
  }
}
