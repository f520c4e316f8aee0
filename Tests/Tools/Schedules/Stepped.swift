// Stepped.swift: atomics, locks and semaphores that stop before each use and let a scheduler choose who goes on.
//
// `Tests/Tools/Schedules/run` compiles this file into the library instead of `Guarded.swift`; its names come before those of
// Synchronization and Dispatch. The library's own sources are used as they are.

import Dispatch
public import Synchronization

/// What a thread is about to do to something that threads share.
public struct Step {
  public enum Kind: Sendable { case begin, read, write, lock, wait, everything }

  public let kind: Kind
  /// The object: a number that no other has, or 0.
  public let object: UInt
  /// Where the object was made, or what the step is called.
  public let place: Place
  /// Whether the step can be taken at this moment.
  public let isReady: () -> Bool
  /// Whether the step would change anything at this moment.
  public let changes: () -> Bool

  public init(
    _ kind: Kind, _ object: UInt, _ place: Place, isReady: @escaping () -> Bool = { true },
    changes: @escaping () -> Bool = { true }
  ) {
    (self.kind, self.object, self.place, self.isReady, self.changes) = (kind, object, place, isReady, changes)
  }

  /// What the step is when it is taken now: an exchange that finds another value than it expects only reads.
  public var now: Step { kind == .write && !changes() ? Step(.read, object, place) : self }

  /// Whether the order of both may matter. Critical sections and counts of semaphores are written.
  public func conflicts(with other: Step) -> Bool {
    switch (kind, other.kind) {
    case (.begin, _), (_, .begin): false
    case (.everything, _), (_, .everything): true
    case (.read, .read): false
    default: object == other.object
    }
  }
}

/// A line of the library, `Mailbox.swift:41`, or a name.
public struct Place: CustomStringConvertible, ExpressibleByStringLiteral, Sendable {
  let text: StaticString
  let line: UInt

  public init(_ text: StaticString, _ line: UInt) { (self.text, self.line) = (text, line) }
  public init(stringLiteral text: StaticString) { self.init(text, 0) }

  public var description: String {
    line == 0 ? "\(text)" : "\("\(text)".split(separator: "/").last ?? "?"):\(line)"
  }
}

/// Who chooses the thread that takes the next step.
public protocol StepScheduler: AnyObject {
  /// Returns when the calling thread is to take `step`.
  func reach(_ step: Step)
  /// The calling thread has left the critical section of an object.
  func left(_ object: UInt)
}

public enum Steps {
  // Both belong to the thread whose step it is.
  public nonisolated(unsafe) static var scheduler: (any StepScheduler)?

  private nonisolated(unsafe) static var objects: UInt = 0
  public static func newObject() -> UInt {
    objects += 1
    return objects
  }

  /// Numbers new objects from there on, so that the same choices give the same numbers.
  public static func restart(from object: UInt) { objects = object }

  public static func reach(_ kind: Step.Kind, _ object: UInt, _ place: Place) {
    scheduler?.reach(Step(kind, object, place))
  }
}

/// As `Synchronization.Atomic`. Steps are taken one at a time, so every ordering is the strongest one.
public struct Atomic<Value: Equatable>: ~Copyable, @unchecked Sendable {  // only the thread whose step it is uses it
  private let value: UnsafeMutablePointer<Value>
  private let object: UInt
  private let place: Place

  public init(_ value: consuming Value, file: StaticString = #fileID, line: UInt = #line) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
    (object, place) = (Steps.newObject(), Place(file, line))
  }

  deinit { value.deinitialize(count: 1).deallocate() }

  /// One step that reads and writes.
  @discardableResult
  private func change(_ body: (inout Value) -> Void) -> Value {
    Steps.reach(.write, object, place)
    defer { body(&value.pointee) }
    return value.pointee
  }

  public func load(ordering: AtomicLoadOrdering) -> Value {
    Steps.reach(.read, object, place)
    return value.pointee
  }

  public func store(_ new: Value, ordering: AtomicStoreOrdering) { change { $0 = new } }

  public func exchange(_ new: Value, ordering: AtomicUpdateOrdering) -> Value { change { $0 = new } }

  public func compareExchange(
    expected: Value, desired: Value, ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    let value = value
    Steps.scheduler?.reach(Step(.write, object, place, changes: { value.pointee == expected }))
    let original = value.pointee
    if original == expected { value.pointee = desired }
    return (original == expected, original)
  }

  public func compareExchange(
    expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
  ) -> (exchanged: Bool, original: Value) {
    compareExchange(expected: expected, desired: desired, ordering: successOrdering)
  }

  public func weakCompareExchange(
    expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
  ) -> (exchanged: Bool, original: Value) {
    compareExchange(expected: expected, desired: desired, ordering: successOrdering)
  }
}

extension Atomic where Value: FixedWidthInteger {
  private func update(_ body: (Value) -> Value) -> (oldValue: Value, newValue: Value) {
    let old = change { $0 = body($0) }
    return (old, body(old))
  }

  @discardableResult
  public func wrappingAdd(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { $0 &+ value }
  }
  @discardableResult
  public func add(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { $0 + value }
  }
  @discardableResult
  public func wrappingSubtract(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { $0 &- value }
  }
  @discardableResult
  public func bitwiseOr(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { $0 | value }
  }
  @discardableResult
  public func bitwiseAnd(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { $0 & value }
  }
  @discardableResult
  public func max(_ value: Value, ordering: AtomicUpdateOrdering) -> (oldValue: Value, newValue: Value) {
    update { Swift.max($0, value) }
  }
}

/// As the library's `Guarded`. A thread that cannot enter is not chosen, so the lock inside is always free.
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let object = Steps.newObject()
  private let place: Place

  package init(_ value: consuming sending Value, file: StaticString = #fileID, line: UInt = #line) {
    mutex = Mutex(value)
    place = Place(file, line)
  }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    Steps.reach(.lock, object, place)
    let object = object
    defer { Steps.scheduler?.left(object) }
    return try mutex.withLock { (value) throws(Failure) -> sending Result in try body(&value) }
  }
}

/// As Dispatch's, without an end of the time: a wait that nothing ends is found as such.
final class DispatchSemaphore: @unchecked Sendable {  // only the thread whose step it is uses it
  private var value: Int
  private let object = Steps.newObject()

  init(value: Int) { self.value = value }

  @discardableResult
  func signal() -> Int {
    Steps.reach(.write, object, "semaphore")
    value += 1
    return 1
  }

  func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    Steps.scheduler?.reach(Step(.wait, object, "semaphore", isReady: { [unowned self] in self.value > 0 }))
    value -= 1
    return .success
  }
}
