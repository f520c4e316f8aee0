// ResolverHook.swift: asks a class to add a method, once for each class and selector.
// Layer: Sending. See DESIGN.md, "Tables and caches".

import Dispatch
import Synchronization

/// Who has been asked to resolve what. The method itself is in the table.
enum ResolverHook {
  /// What a class's hook said, and whether it was so.
  enum Answer: Sendable {
    /// It added nothing.
    case nothing
    /// It added a method, which may be gone by now.
    case added
    /// It said that it had added a method, and no table had one.
    case emptyPromise
  }

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
    case answered(Answer)
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
    case nothing(Answer)
  }

  /// Asks the hook if nobody has. Unless it added nothing, the tables may have changed since the caller looked.
  ///
  /// - Parameter isThere: whether the method is in a table.
  static func ask(_ type: any MessageReceiver.Type, _ selector: MessageSelector, isThere: () -> Bool) -> Answer {
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
        if book.closesRing(other) { return .nothing(.nothing) }
        book.waits[thread] = other
        return .wait(other)
      // The hook may have added the method after the caller looked.
      case .answered(let answer)?: return .nothing(answer)
      }
    }
    switch turn {
    case .nothing(let answer): return answer
    case .wait(let other):
      other.gate.wait()
      return book.withLock { book in
        book.waits[thread] = nil
        guard case .answered(let answer)? = book.requests[request] else { return .added }
        return answer
      }
    case .ask(let mine):
      let answer: Answer = !type.resolveMethod(for: selector) ? .nothing : isThere() ? .added : .emptyPromise
      book.withLock { $0.requests[request] = .answered(answer) }
      mine.gate.leave()
      return answer
    }
  }
}
