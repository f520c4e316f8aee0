// TargetCast.swift: casts an object to the target type of a table's rows.

public import Synchronization

/// Casts a receiver to the type of a row's closure. The table has checked that the receiver fits.
///
/// For a class this copies bits. For a class-bound protocol the cast needs a witness table, whose
/// lookup is costly. All objects of a class have the same witness table, so each row caches one per
/// class.
@usableFromInline
struct TargetCast<Target>: @unchecked Sendable {  // immutable; what `head` points to is exchanged atomically
  /// `nil` for a class, which needs no table.
  @usableFromInline let tables: WitnessTables?
  /// The pointer inside `tables`. Reading it does not retain `tables` for each message.
  @usableFromInline let head: WitnessTables.Head?

  @inlinable
  init() {
    tables = Target.self is AnyObject.Type ? nil : WitnessTables()
    head = tables?.head
  }

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

  @export(implementation) @inline(__always)
  static func ofClass<R>(_ object: AnyObject, _ body: (Target) throws -> R) rethrows -> R {
    try borrowing(object, 0, body)
  }

  /// Calls `body` with the reference made of the words `object` and, for an existential, `table`.
  /// The reference is built in place, so the target, which the caller retains, is not retained
  /// again.
  @export(implementation) @inline(__always)
  static func borrowing<R>(_ object: AnyObject, _ table: UInt, _ body: (Target) throws -> R) rethrows -> R {
    var words = (UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), table)
    return try withUnsafeMutablePointer(to: &words) { words in
      let place = UnsafeMutableRawPointer(words).assumingMemoryBound(to: Target.self)
      // The reference is moved out and back, which neither retains nor releases.
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

  func target(_ object: AnyObject) -> Target { self(object) { $0 } }

  /// Casts with `as?`, and caches the witness table if there is one.
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

  /// Caches the table of `target` if its two words are the object and a table. A struct of two
  /// words, such as a bridged one, has `Target` as its dynamic type; an existential does not.
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

/// The witness tables that one row has used.
@usableFromInline
final class WitnessTables: @unchecked Sendable {  // entries are immutable; the first one is exchanged atomically
  @usableFromInline
  struct Entry {
    @usableFromInline let type: ObjectIdentifier
    @usableFromInline let table: UInt
    @usableFromInline let next: UnsafeMutablePointer<Entry>?
    let followers: Int
  }

  @usableFromInline typealias Head = UnsafeMutablePointer<Atomic<UnsafeMutablePointer<Entry>?>>
  /// The first entry, at a stable address.
  @usableFromInline let head: Head

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
    // If another thread was faster, a later lookup adds this entry unless that thread added it.
    if !head.pointee.compareExchange(expected: first, desired: entry, ordering: .acquiringAndReleasing).exchanged {
      entry.deallocate()
    }
  }
}
