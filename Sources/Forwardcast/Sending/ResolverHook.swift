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
    case answered
  }

  private static let questions = Mutex<[Question: State]>([:])

  /// Asks the hook if nobody has; `true` when the tables may have changed since the caller looked.
  static func ask(_ type: any MessageReceiver.Type, _ selector: MessageSelector) -> Bool {
    let question = Question(type: ObjectIdentifier(type), selector: selector)
    let mine = Pending()
    let before = questions.withLock { questions -> State? in
      if let state = questions[question] { return state }
      questions[question] = .pending(mine)
      return nil
    }
    switch before {
    case .answered: return false
    case .pending(let other):
      if other.thread == ThreadMark.current { return false }
      other.gate.wait()
      return true
    case nil:
      let added = type.resolveMethod(for: selector)
      questions.withLock { $0[question] = .answered }
      mine.gate.leave()
      return added
    }
  }
}
