// Recorder.swift: keys, receivers and counters for tests of the core and of the centers.

package import Forwardcast
package import TestSupport

extension Message<(Int) -> Void> { package static var note: Self { .init("note:") } }
extension Message<(String) -> Void> { package static var say: Self { .init("say:") } }
extension Message<() -> Void> { package static var ping: Self { .init("ping") } }
extension Message<() -> Int> { package static var value: Self { .init("value") } }
extension Message<() -> Bool> { package static var agrees: Self { .init("agrees") } }
extension Message<(Int, Int) -> Int> { package static var addTo: Self { .init("add:to:") } }

extension MethodSignature {
  /// A signature from text that must be well formed.
  package static func sample(_ text: String) -> MethodSignature {
    guard let signature = try? MethodSignature(text) else { preconditionFailure("malformed: \(text)") }
    return signature
  }
}

/// Runs steps that depend on cached routes, and repeats them if another test changed a selector
/// table meanwhile. A table change makes every proxy rebuild its routes.
@discardableResult
package func withTablesUnchanged<Result>(_ steps: () throws -> Result) rethrows -> Result {
  while true {
    let epoch = TableEpoch.current
    let result = try steps()
    if TableEpoch.current == epoch { return result }
  }
}

/// The error that targets throw.
package struct TargetError: Error, Equatable, CustomStringConvertible {
  package var name: String
  package init(name: String) { self.name = name }
  package var description: String { "refused by \(name)" }
}

/// A target that records its messages and runs a closure.
package class Listener: MessageReceiver {
  package let name: String
  package let journal: Journal
  private let witness: Witness?
  package var onNote: ((Listener, Int) throws -> Void)?
  package var onDeinit: ((Listener) -> Void)?
  package var answer = 0
  package var agrees = true

  package init(_ name: String, _ journal: Journal = Journal(), _ counter: LeakCounter? = nil) {
    (self.name, self.journal) = (name, journal)
    witness = counter.map(Witness.init)
  }

  deinit { onDeinit?(self) }

  package class var selectorTable: SelectorTable { listenerTable }
}

private let listenerTable = SelectorTable(for: Listener.self) {
  Responds(to: .note) { listener, number in
    listener.journal.write("\(listener.name) \(number)")
    try listener.onNote?(listener, number)
  }
  Responds(to: .value) { listener in
    listener.journal.write("\(listener.name) value")
    return listener.answer
  }
  Responds(to: .agrees) { listener in
    listener.journal.write("\(listener.name) agrees")
    return listener.agrees
  }
}

/// A subclass with one more message.
package final class LoudListener: Listener {
  package override class var selectorTable: SelectorTable { loudTable }
}

private let loudTable = SelectorTable(for: LoudListener.self, inheriting: listenerTable) {
  Responds(to: .say) { listener, text in listener.journal.write("\(listener.name): \(text)") }
}

package func permutations<T>(_ items: [T]) -> [[T]] {
  guard let first = items.first else { return [[]] }
  return permutations(Array(items.dropFirst())).flatMap { rest in
    (0...rest.count).map { index in
      var order = rest
      order.insert(first, at: index)
      return order
    }
  }
}
