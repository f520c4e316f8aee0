// Targets.swift: who receives messages here, and the keys of the messages.
// The methods do next to nothing, so that what is measured is the way to them. Each class does something else with a text: the
// compiler would make one function of equal methods, with a call in the rows of all three.

import Forwardcast

/// An argument that lives on the heap.
final class Payload: Sendable {
  let value = 7
}

/// What the hand-written counterparts call through, and what the proxies stand for.
protocol Listener: MessageReceiver, Sendable {
  func tick(_ value: Int)
  func add(_ first: Int, _ second: Int) -> Int
  func receive(_ payload: Payload)
  func read(_ text: String)
  var received: Int { get }
}

/// The same calls for a proxy that the attribute writes: its targets are called by the protocol, and need no table.
@Forwarded
protocol Hearing: AnyObject, Sendable {
  func tick(_ value: Int)
  @Answer(.last, otherwise: 0) func add(_ first: Int, _ second: Int) -> Int
}

extension FirstListener: Hearing {}
extension SecondListener: Hearing {}
extension ThirdListener: Hearing {}

/// Something that only some targets can do. None of those measured can.
protocol Pausing: AnyObject {
  func pause()
}

extension Message<(Int) -> Void> { static var tick: Self { .init("tick:") } }
extension Message<(Int, Int) -> Int> { static var add: Self { .init("add:with:") } }
extension Message<(Payload) -> Void> { static var receive: Self { .init("receive:") } }
extension Message<(String) -> Void> { static var read: Self { .init("read:") } }

// `received` is written by one thread at a time: a target is only ever sent to from one thread, or on one queue.

final class FirstListener: Listener, @unchecked Sendable {
  private(set) var received = 0
  func tick(_ value: Int) { received &+= value }
  func add(_ first: Int, _ second: Int) -> Int {
    received &+= first
    return first &+ second
  }
  func receive(_ payload: Payload) { received &+= payload.value }
  func read(_ text: String) { received &+= text.utf8.count }

  static let selectorTable = SelectorTable(for: FirstListener.self) {
    Responds(to: .tick) { target, value in target.tick(value) }
    Responds(to: .add) { target, first, second in target.add(first, second) }
    Responds(to: .receive) { target, payload in target.receive(payload) }
    Responds(to: .read) { target, text in target.read(text) }
  }
}

final class SecondListener: Listener, @unchecked Sendable {
  private(set) var received = 0
  func tick(_ value: Int) { received &+= value }
  func add(_ first: Int, _ second: Int) -> Int {
    received &+= first
    return first &+ second
  }
  func receive(_ payload: Payload) { received &+= payload.value }
  func read(_ text: String) { received ^= text.utf8.count }

  static let selectorTable = SelectorTable(for: SecondListener.self) {
    Responds(to: .tick) { target, value in target.tick(value) }
    Responds(to: .add) { target, first, second in target.add(first, second) }
    Responds(to: .receive) { target, payload in target.receive(payload) }
    Responds(to: .read) { target, text in target.read(text) }
  }
}

final class ThirdListener: Listener, @unchecked Sendable {
  private(set) var received = 0
  func tick(_ value: Int) { received &+= value }
  func add(_ first: Int, _ second: Int) -> Int {
    received &+= first
    return first &+ second
  }
  func receive(_ payload: Payload) { received &+= payload.value }
  func read(_ text: String) { received &-= text.utf8.count }

  static let selectorTable = SelectorTable(for: ThirdListener.self) {
    Responds(to: .tick) { target, value in target.tick(value) }
    Responds(to: .add) { target, first, second in target.add(first, second) }
    Responds(to: .receive) { target, payload in target.receive(payload) }
    Responds(to: .read) { target, text in target.read(text) }
  }
}

/// `count` new targets, of one class or of three in turn. Out of line, so that no caller is compiled for one class.
@inline(never)
func makeTargets(_ count: Int, classes: Int = 1) -> [any Listener] {
  (0..<count).map { index in
    switch index % classes {
    case 0: FirstListener()
    case 1: SecondListener()
    default: ThirdListener()
    }
  }
}

/// Keeps the compiler from dropping a value that nobody else needs.
@inline(never)
func use<T>(_ value: borrowing T) {}
