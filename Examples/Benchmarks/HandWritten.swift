// HandWritten.swift: the code that a careful engineer writes without a library.
// Each type is the counterpart of some rows.

import Synchronization

/// A weak reference for arrays.
final class WeakBox: @unchecked Sendable {  // the runtime makes loads and clearing of weak references atomic
  weak var target: (any Listener)?
  init(_ target: any Listener) { self.target = target }
}

/// Weak targets behind a lock. A message goes to a snapshot of them.
final class WeakLoop: Sendable {
  private let boxes: Mutex<[WeakBox]>

  init(_ targets: [any Listener]) {
    let list = targets.map { WeakBox($0) }
    boxes = Mutex(list)
  }

  var snapshot: [WeakBox] { boxes.withLock { $0 } }

  @inline(never)
  func tick(_ value: Int) {
    let snapshot = boxes.withLock { $0 }
    for box in snapshot { box.target?.tick(value) }
  }

  /// Sends without retaining the box. A plain loop retains the box during the call, because the
  /// compiler does not know what the call releases.
  @inline(never)
  func tickUncounted(_ value: Int) {
    let snapshot = boxes.withLock { $0 }
    for index in snapshot.indices {
      Unmanaged.passUnretained(snapshot[index])._withUnsafeGuaranteedRef { $0.target?.tick(value) }
    }
    withExtendedLifetime(snapshot) {}
  }

  @inline(never)
  func add(_ first: Int, _ second: Int) -> Int? {
    let snapshot = boxes.withLock { $0 }
    var last: Int?
    for box in snapshot {
      if let target = box.target { last = target.add(first, second) }
    }
    return last
  }

  @inline(never)
  func receive(_ payload: Payload) {
    let snapshot = boxes.withLock { $0 }
    for box in snapshot { box.target?.receive(payload) }
  }

  @inline(never)
  func read(_ text: String) {
    let snapshot = boxes.withLock { $0 }
    for box in snapshot { box.target?.read(text) }
  }

  /// Whether a target can pause: casts one after another, as code without a table does.
  @inline(never)
  func hasPausing() -> Bool {
    let snapshot = boxes.withLock { $0 }
    return snapshot.contains { $0.target is any Pausing }
  }

  /// The same query if the first target has the method, so that the first cast succeeds.
  @inline(never)
  func hasListener() -> Bool {
    let snapshot = boxes.withLock { $0 }
    return snapshot.contains { box in
      guard let target: AnyObject = box.target else { return false }
      return target is any Listener
    }
  }
}

/// Strong targets without a lock: the lowest possible cost of a multicast.
final class StrongLoop {
  private let targets: [any Listener]

  init(_ targets: [any Listener]) { self.targets = targets }

  @inline(never)
  func tick(_ value: Int) {
    for target in targets { target.tick(value) }
  }

  @inline(never)
  func receive(_ payload: Payload) {
    for target in targets { target.receive(payload) }
  }
}

/// Weak targets by identity behind a lock. Look-up and removal take constant time.
final class WeakDictionary: Sendable {
  private let boxes = Mutex<[ObjectIdentifier: WeakBox]>([:])

  @inline(never)
  func add(_ target: any Listener) {
    let box = WeakBox(target)
    boxes.withLock { $0[ObjectIdentifier(target)] = box }
  }

  @inline(never)
  func tick(_ value: Int) {
    let snapshot = boxes.withLock { $0 }
    for box in snapshot.values { box.target?.tick(value) }
  }

  @inline(never)
  func remove(_ target: any Listener) {
    let box = boxes.withLock { $0.removeValue(forKey: ObjectIdentifier(target)) }
    withExtendedLifetime(box) {}
  }
}
