// MulticastProxy+Calls.swift: ordinary Swift calls to every target, with no table at all.
// Layer: Facade. See DESIGN.md, "The attributes".

extension MulticastProxy {
  /// Makes an ordinary call to every target, in the sender's turn and in order.
  ///
  ///     themes.broadcast { $0.themesColorChanged(.red) }
  ///
  /// Whoever conforms to a Swift protocol implements all of it, so the call needs no table and no key, and goes to all
  /// targets that `Interface` describes. Given the selector that the call stands for, it goes to those that respond to
  /// it. Closures registered with ``on(_:priority:_:)`` are not called.
  ///
  /// A target with a delivery of its own cannot get such a call: it fails with `isolationMismatch`. Errors go to
  /// ``onError``, under the name of the selector, or `typedCall`.
  ///
  /// - Returns: how many were reached.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    visit(selector, call)
  }
}
