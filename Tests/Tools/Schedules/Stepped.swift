// Stepped.swift: atomics, locks and semaphores that stop before each use for a scheduler.
//
// `Tests/Tools/Schedules/run` compiles this file into the library instead of `Guarded.swift`. Its names
// shadow those of Synchronization and Dispatch. The library's other sources are unchanged.

import Dispatch
public import Synchronization

/// The next operation of a thread on shared state.
public struct Step: CustomStringConvertible {
  /// The operation's name.
  let name: StaticString
  /// The unique number of the object, or 0.
  public let object: UInt
  /// The source location that created the object.
  let place: Place?
  /// True if the step begins a critical section.
  public let isLock: Bool
  /// True if the step can be taken now.
  public let isReady: () -> Bool

  public init(
    _ name: StaticString, _ object: UInt = 0, _ place: Place? = nil, isLock: Bool = false,
    isReady: @escaping () -> Bool = { true }
  ) {
    (self.name, self.object, self.place, self.isLock, self.isReady) = (name, object, place, isLock, isReady)
  }

  public var description: String { "\(name)" + (place.map { " \($0)" } ?? "") }
}

/// A line of the library, for example `Mailbox.swift:41`.
public struct Place: CustomStringConvertible, Sendable {
  let file: StaticString
  let line: UInt

  public init(_ file: StaticString, _ line: UInt) { (self.file, self.line) = (file, line) }

  public var description: String { "\("\(file)".split(separator: "/").last ?? "?"):\(line)" }
}

/// The scheduler that chooses the thread of each step.
public protocol StepScheduler: AnyObject {
  /// Returns when the calling thread may take `step`.
  func reach(_ step: Step)
  /// The calling thread has left the critical section of `object`.
  func left(_ object: UInt)
}

public enum Steps {
  // Both belong to the thread that takes the step.
  public nonisolated(unsafe) static var scheduler: (any StepScheduler)?

  private nonisolated(unsafe) static var objects: UInt = 0
  public static func newObject() -> UInt {
    objects += 1
    return objects
  }

  /// Numbers new objects from `object` on, so that the same choices give the same numbers.
  public static func restart(from object: UInt) { objects = object }

  public static func reach(_ name: StaticString, _ object: UInt, _ place: Place? = nil, isLock: Bool = false) {
    scheduler?.reach(Step(name, object, place, isLock: isLock))
  }
}

/// Like `Synchronization.Atomic`. One step at a time, so every ordering is the strongest.
public struct Atomic<Value: Equatable>: ~Copyable, @unchecked Sendable {  // used only by the stepping thread
  private let value: UnsafeMutablePointer<Value>
  private let object: UInt
  private let place: Place

  public init(_ value: consuming Value, file: StaticString = #fileID, line: UInt = #line) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
    (object, place) = (Steps.newObject(), Place(file, line))
  }

  deinit { value.deinitialize(count: 1).deallocate() }

  /// Reads and writes in one step.
  @discardableResult
  private func change(_ body: (inout Value) -> Void) -> Value {
    Steps.reach("writes", object, place)
    defer { body(&value.pointee) }
    return value.pointee
  }

  public func load(ordering: AtomicLoadOrdering) -> Value {
    Steps.reach("reads", object, place)
    return value.pointee
  }

  public func store(_ new: Value, ordering: AtomicStoreOrdering) { change { $0 = new } }

  public func exchange(_ new: Value, ordering: AtomicUpdateOrdering) -> Value { change { $0 = new } }

  public func compareExchange(
    expected: Value, desired: Value, ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    Steps.reach("exchanges", object, place)
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

/// Like the library's `Guarded`. A thread that would block is not chosen, so the lock is free.
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
    Steps.reach("enters", object, place, isLock: true)
    let object = object
    defer { Steps.scheduler?.left(object) }
    return try mutex.withLock { (value) throws(Failure) -> sending Result in try body(&value) }
  }

  /// Unknown here, so assertions always hold.
  package var isHeld: Bool { true }
  package borrowing func assertHeld() {}
}

/// Like Dispatch's, without timeouts: the walk reports a wait that nothing ends.
final class DispatchSemaphore: @unchecked Sendable {  // used only by the stepping thread
  private var value: Int
  private let object = Steps.newObject()

  init(value: Int) { self.value = value }

  @discardableResult
  func signal() -> Int {
    Steps.reach("signals", object)
    value += 1
    return 1
  }

  func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
    Steps.scheduler?.reach(Step("waits", object) { [unowned self] in self.value > 0 })
    value -= 1
    return .success
  }
}
