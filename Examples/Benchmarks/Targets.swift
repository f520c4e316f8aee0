// Targets.swift: the targets, and the keys of their messages.
// The methods do almost nothing, so that the delivery is measured. Each class treats a text
// differently. Otherwise the compiler would merge the methods into one, with a call in every row.

import Forwardcast

/// An argument on the heap.
final class Payload: Sendable {
  let value = 7
}

/// The protocol of all targets, used by the counterparts and represented by the proxies.
protocol Listener: MessageReceiver, Sendable {
  func tick(_ value: Int)
  func add(_ first: Int, _ second: Int) -> Int
  func receive(_ payload: Payload)
  func read(_ text: String)
  var received: Int { get }
}

/// The same calls for a generated proxy, whose targets need no table.
@Forwarded
protocol Hearing: AnyObject, Sendable {
  func tick(_ value: Int)
  @Answer(.last, otherwise: 0) func add(_ first: Int, _ second: Int) -> Int
}

extension FirstListener: Hearing {}
extension SecondListener: Hearing {}
extension ThirdListener: Hearing {}

/// A protocol that some targets may conform to. No measured target does.
protocol Pausing: AnyObject {
  func pause()
}

extension Message<(Int) -> Void> { static var tick: Self { .init("tick:") } }
extension Message<(Int, Int) -> Int> { static var add: Self { .init("add:with:") } }
extension Message<(Payload) -> Void> { static var receive: Self { .init("receive:") } }
extension Message<(String) -> Void> { static var read: Self { .init("read:") } }

// `received` is written by one thread at a time: each target has one sender or queue.

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

/// `count` new targets of one class or of three. Not inlined, so callers are not specialized.
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

/// Prevents the compiler from removing an unused value.
@inline(never)
func use<T>(_ value: borrowing T) {}
