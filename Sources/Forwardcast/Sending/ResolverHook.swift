// ResolverHook.swift: asks a class to add a method, once for each class and selector.
// Layer: Sending. See DESIGN.md, "Tables and caches".

import Dispatch
import Synchronization

/// Who has been asked to resolve what. The answer itself is in the table.
enum ResolverHook {
  private struct Question: Hashable {
    let type: ObjectIdentifier
    let selector: MessageSelector
  }

  /// A question under way: its thread may come again from within the hook, other threads wait at the gate.
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
    var questions: [Question: State] = [:]
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

  /// Asks the hook if nobody has; `true` when the tables may have changed since the caller looked.
  static func ask(_ type: any MessageReceiver.Type, _ selector: MessageSelector) -> Bool {
    let question = Question(type: ObjectIdentifier(type), selector: selector)
    let mine = Pending()
    let before = book.withLock { book -> State? in
      switch book.questions[question] {
      case nil:
        book.questions[question] = .pending(mine)
        return nil
      case .pending(let other)?:
        // Hooks that ask one another, on one thread or on several, get the answer that there is none yet.
        if book.closesRing(other) { return .answered(false) }
        book.waits[mine.thread] = other
        return .pending(other)
      case .answered(let added)?: return .answered(added)
      }
    }
    switch before {
    // The hook may have added the method after the caller looked.
    case .answered(let added)?: return added
    case .pending(let other)?:
      other.gate.wait()
      _ = book.withLock { $0.waits.removeValue(forKey: mine.thread) }
      return true
    case nil:
      let added = type.resolveMethod(for: selector)
      book.withLock { $0.questions[question] = .answered(added) }
      mine.gate.leave()
      return added
    }
  }
}
