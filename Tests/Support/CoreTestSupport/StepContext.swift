// StepContext.swift: a context that runs one envelope at a time, and thread-safe targets.

import Dispatch
package import Forwardcast
import Synchronization
package import TestSupport

/// A context that runs nothing by itself. Each ``step()`` opens one envelope, so the test chooses
/// the order.
package final class StepContext: DeliveryContext {
  package let name: String
  private let woken = Locked<[Mailbox]>([])

  package init(_ name: String) { self.name = name }

  package var identity: ObjectIdentifier { ObjectIdentifier(self) }
  package var turn: Int { 1 }
  package var isCurrent: Bool { isHeld }
  package func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { woken.withLock { $0.append(mailbox) } }

  /// The number of mailboxes that wait to be drained, at most one for each proxy.
  package var waiting: Int { woken.withLock { $0.count } }

  /// Opens one envelope. Returns `false` if none is waiting.
  @discardableResult
  package func step() -> Bool {
    let mailbox = woken.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    mailbox?.drain()
    return mailbox != nil
  }

  package func run() { while step() {} }
}

/// The protocol of thread-safe targets.
package protocol Member: AnyObject, Sendable {}

/// A thread-safe target that records its messages.
package final class Clerk: Member, MessageReceiver {
  package let name: String
  package let journal: Journal
  private let action = Locked<(@Sendable (Int) throws -> Void)?>(nil)
  private let witness: Witness?

  package init(_ name: String, _ journal: Journal = Journal(), _ counter: LeakCounter? = nil) {
    (self.name, self.journal) = (name, journal)
    witness = counter.map(Witness.init)
  }

  /// Called by each `note:` after it is recorded.
  package func onNote(_ body: (@Sendable (Int) throws -> Void)?) { action.withLock { $0 = body } }

  package static let selectorTable = SelectorTable(for: Clerk.self) {
    Responds(to: .note) { clerk, number in
      clerk.journal.write("\(clerk.name) \(number)")
      try clerk.action.withLock { $0 }?(number)
    }
    Responds(to: .say) { clerk, text in clerk.journal.write("\(clerk.name): \(text)") }
    Responds(to: .value) { clerk in clerk.name.count }
    Responds(to: .agrees) { clerk in clerk.name == "yes" }
    Responds(
      to: .slow,
      async: { clerk, number in
        clerk.journal.write("\(clerk.name) begins \(number)")
        await Turnstile.passing(number)
        clerk.journal.write("\(clerk.name) ends \(number)")
        return number
      })
  }
}

extension Message<(Int) -> Int> { package static var slow: Self { .init("slow:") } }

/// Barriers for the async methods of ``Clerk``. A method passes unless its barrier is closed.
package final class Turnstile: Sendable {
  private struct State {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
    var arrivals = 0
    var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
  }
  private let state = Locked(State())
  private static let all = Locked<[Int: Turnstile]>([:])

  /// Closes the barrier of a number.
  package static func shut(_ number: Int) -> Turnstile {
    all.withLock { gates in
      let gate = Turnstile()
      gates[number] = gate
      return gate
    }
  }

  package static func passing(_ number: Int) async {
    guard let gate = all.withLock({ $0[number] }) else { return }
    await gate.pass()
  }

  package func pass() async {
    await withCheckedContinuation { continuation in
      let (through, watchers) = state.withLock { state in
        state.arrivals += 1
        let ready = state.watchers.filter { $0.0 <= state.arrivals }
        state.watchers.removeAll { $0.0 <= state.arrivals }
        if !state.isOpen { state.waiters.append(continuation) }
        return (state.isOpen, ready)
      }
      if through { continuation.resume() }
      for watcher in watchers { watcher.1.resume() }
    }
  }

  /// Waits until `count` methods have arrived.
  package func arrived(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let there = state.withLock { state in
        if state.arrivals < count { state.watchers.append((count, continuation)) }
        return state.arrivals >= count
      }
      if there { continuation.resume() }
    }
  }

  package func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
