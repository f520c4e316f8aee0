// ResolverHook.swift: asks a class to add a method, once for each class and selector.
// Layer: Sending. See DESIGN.md, "Tables and caches".

import Dispatch
import Synchronization

/// Who has been asked to resolve what. The answer itself is in the table.
enum ResolverHook {
  private struct Request: Hashable {
    let type: ObjectIdentifier
    let selector: MessageSelector
  }

  /// A request under way: its thread may come again from within the hook, other threads wait at the gate.
  private final class Pending: Sendable {
    let gate = DispatchGroup()
    let thread = ThreadMark.current
    init() { gate.enter() }
  }

  private enum State {
    case pending(Pending)
    case answered(Bool)
  }

  private struct Book {
    var requests: [Request: State] = [:]
    /// What each waiting thread waits for.
    var waits: [ThreadMark: Pending] = [:]

    /// Whether waiting for `other` would wait for the calling thread itself, perhaps over other threads.
    func closesRing(_ other: Pending) -> Bool {
      var next: Pending? = other
      while let here = next {
        if here.thread == ThreadMark.current { return true }
        next = waits[here.thread]
      }
      return false
    }
  }

  private static let book = Guarded(Book())

  /// What is left to do for one who asks.
  private enum Turn {
    case ask(Pending)
    case wait(Pending)
    case nothing(Bool)
  }

  /// Asks the hook if nobody has; `true` when the tables may have changed since the caller looked.
  static func ask(_ type: any MessageReceiver.Type, _ selector: MessageSelector) -> Bool {
    let request = Request(type: ObjectIdentifier(type), selector: selector)
    let thread = ThreadMark.current
    let turn = book.withLock { book -> Turn in
      switch book.requests[request] {
      case nil:
        // The gate is made with the request only: an entered group that nobody leaves is never freed.
        let mine = Pending()
        book.requests[request] = .pending(mine)
        return .ask(mine)
      case .pending(let other)?:
        // Hooks that ask one another, on one thread or on several, get the answer that there is none yet.
        if book.closesRing(other) { return .nothing(false) }
        book.waits[thread] = other
        return .wait(other)
      // The hook may have added the method after the caller looked.
      case .answered(let added)?: return .nothing(added)
      }
    }
    switch turn {
    case .nothing(let added): return added
    case .wait(let other):
      other.gate.wait()
      _ = book.withLock { $0.waits.removeValue(forKey: thread) }
      return true
    case .ask(let mine):
      let added = type.resolveMethod(for: selector)
      book.withLock { $0.requests[request] = .answered(added) }
      mine.gate.leave()
      return added
    }
  }
}
