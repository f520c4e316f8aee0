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

  /// The work while the hook runs, then what it said.
  private typealias Progress = (work: SharedWork?, answer: Answer?)

  private static let requests = Guarded<[Request: Progress]>(.init())

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
    let (known, isMine) = requests.withLock { requests -> (Progress, Bool) in
      if let known = requests[request] { return (known, false) }
      let mine: Progress = (SharedWork { "resolveMethod(for: \(selector)) of \(asked.value)" }, nil)
      requests[request] = mine
      return (mine, true)
    }
    // The hook may have added the method after the caller looked.
    guard let work = known.work else { return known.answer ?? .added }
    if !isMine {
      do { try WaitGraph.wait(for: work) } catch {
        throw MessageError(
          .wouldDeadlock, receiver: "\(type)", selector: selector.name, evidence: error.chain.joined(separator: " → "))
      }
      return requests.withLock { $0[request]?.answer } ?? .added
    }
    WaitGraph.begin(work)
    let added = (type as? any MethodResolving.Type)?.resolveMethod(for: selector) ?? type.resolveMethod(for: selector)
    let answer: Answer = !added ? .nothing : isThere() ? .added : .falseClaim
    requests.withLock { $0[request] = (nil, answer) }
    WaitGraph.end(work)
    return answer
  }
}

/// The types of the method that a class's tables have for `selector`, found without an instance; asks the resolver hook.
package func signature(ofClass type: any MessageReceiver.Type, _ selector: MessageSelector) -> MethodSignature? {
  let table = type.selectorTable
  if let signature = table.signature(for: selector) { return signature }
  _ = try? ResolverHook.ask(type, selector) { table.signature(for: selector) != nil }
  return table.signature(for: selector)
}
