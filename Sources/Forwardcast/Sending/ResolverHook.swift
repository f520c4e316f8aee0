// ResolverHook.swift: gives a class one chance per selector to add a method.

/// Records for which classes and selectors a resolver hook has run. The tables store the methods.
enum ResolverHook {
  /// A hook's claim, checked against the tables.
  enum Answer: Sendable {
    case nothing
    /// The hook added a method, which may have been removed since.
    case added
    /// The hook claimed to have added a method, but no table has the method.
    case falseClaim
  }

  private struct Request: Hashable {
    let type: ObjectIdentifier
    let selector: MessageSelector
  }

  /// The work while the hook runs; afterward, the hook's answer.
  private typealias Progress = (work: SharedWork?, answer: Answer?)

  private static let requests = Guarded<[Request: Progress]>(.init())

  /// Runs the hook once, or waits for the thread that is running it. Unless the answer is
  /// `nothing`, the tables may have changed. `isThere` returns true if a table has the method.
  /// Throws `wouldDeadlock` if the running hook waits for the calling thread.
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
    // The hook may have added the method after the caller's lookup.
    guard let work = known.work else { return known.answer ?? .added }
    if !isMine {
      do { try WaitGraph.wait(for: work) } catch {
        throw MessageError(
          .wouldDeadlock, receiver: "\(type)", selector: selector.name,
          evidence: "these calls wait for one another: " + error.chain.joined(separator: " → "))
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

/// The signature of a class's method for `selector`, without an instance. Runs the resolver hook.
package func signature(ofClass type: any MessageReceiver.Type, _ selector: MessageSelector) -> MethodSignature? {
  let table = type.selectorTable
  if let signature = table.signature(for: selector) { return signature }
  _ = try? ResolverHook.ask(type, selector) { table.signature(for: selector) != nil }
  return table.signature(for: selector)
}
