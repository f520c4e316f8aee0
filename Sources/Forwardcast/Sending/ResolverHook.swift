// ResolverHook.swift: asks a class to add a method, once for each class and selector.

/// Which classes have been asked to resolve which selectors. The methods are in the tables.
enum ResolverHook {
  /// What a class's hook said, and whether it was true.
  enum Answer: Sendable {
    case nothing
    /// It added a method, which may have been removed since.
    case added
    /// It said that it had added a method, and no table had one.
    case falseClaim
  }

  private struct Request: Hashable {
    let type: ObjectIdentifier
    let selector: MessageSelector
  }

  private enum State {
    case pending(SharedWork)
    case answered(Answer)
  }

  private static let requests = Guarded<[Request: State]>(.init())

  /// Asks the hook once, or waits for the thread that does. Unless the answer is `nothing`, the tables may have changed since the
  /// caller looked.
  ///
  /// - Parameter isThere: whether a table has the method.
  /// - Throws: `wouldDeadlock` when the hook is running and needs what the calling thread is doing.
  static func ask(_ type: any MessageReceiver.Type, _ selector: MessageSelector, isThere: () -> Bool)
    throws(MessageError) -> Answer
  {
    let request = Request(type: ObjectIdentifier(type), selector: selector)
    let asked = UncheckedSendable(type)  // for its name
    let (state, isMine) = requests.withLock { requests -> (State, Bool) in
      if let known = requests[request] { return (known, false) }
      let mine = State.pending(SharedWork { "resolveMethod(for: \(selector)) of \(asked.value)" })
      requests[request] = mine
      return (mine, true)
    }
    switch state {
    // The hook may have added the method after the caller looked.
    case .answered(let answer): return answer
    case .pending(let other) where !isMine:
      do { try WaitGraph.wait(for: other) } catch {
        throw MessageError(
          .wouldDeadlock, receiver: "\(type)", selector: selector.name, evidence: error.chain.joined(separator: " → "))
      }
      return requests.withLock { requests in
        guard case .answered(let answer)? = requests[request] else { return .added }
        return answer
      }
    case .pending(let mine):
      WaitGraph.begin(mine)
      let added = (type as? any MethodResolving.Type)?.resolveMethod(for: selector) ?? type.resolveMethod(for: selector)
      let answer: Answer = !added ? .nothing : isThere() ? .added : .falseClaim
      requests.withLock { $0[request] = .answered(answer) }
      WaitGraph.end(mine)
      return answer
    }
  }
}

/// The types of the method that a class's tables have for `selector`, found without an instance; asks the resolver hook.
package func signature(ofClass type: any MessageReceiver.Type, _ selector: MessageSelector) -> MethodSignature? {
  let table = type.selectorTable
  if let signature = table.signature(for: selector) { return signature }
  _ = try? ResolverHook.ask(type, selector) { table.signature(for: selector) != nil }
  return table.signature(for: selector)
}
