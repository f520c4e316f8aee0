// MethodSignature+Swift.swift: signatures made from Swift types.

import Synchronization

extension MethodSignature {
  /// The signature of a method that takes and returns these Swift types, without frame digits.
  ///
  ///     // B@:@"String"q:
  ///     MethodSignature(returning: Bool.self, taking: String.self, Int.self).description
  ///
  /// Each type is encoded by `TypeEncoding.init(of:)`. The receiver is `@`.
  ///
  /// - Parameters:
  ///   - result: what the method returns; `Void.self` for nothing.
  ///   - arguments: what it takes, in order.
  /// - Complexity: O(1) for types seen together before in this process, else O(*n*) in their number.
  public init<Result, each Argument>(returning result: Result.Type, taking arguments: repeat (each Argument).Type) {
    self = DeferredSignature(returning: result, taking: repeat each arguments).signature
  }
}

/// The signature of a Swift function type, made when somebody first asks for it.
///
/// A row of a selector table carries one: keeping it costs one array of type pointers, and a message sent by typed
/// key never asks.
package struct DeferredSignature: Sendable {
  /// The result, then the sender's own arguments.
  private let types: [any Any.Type]

  package init<Result, each Argument>(returning: Result.Type, taking: repeat (each Argument).Type) {
    var types: [any Any.Type] = [Result.self]
    for argument in repeat each taking { types.append(argument) }
    self.types = types
  }

  /// The signature; made once for each list of types in the process.
  package var signature: MethodSignature {
    let key = types.map(ObjectIdentifier.init)
    if let known = Self.known.withLock({ $0[key] }) { return known }
    let made = MethodSignature(
      returning: TypeEncoding(of: types[0]), arguments: types.dropFirst().map(TypeEncoding.init(of:)))
    return Self.known.withLock { known in
      if let earlier = known[key] { return earlier }
      known[key] = made
      return made
    }
  }

  /// Grows with the function types a program is written with, not with its input.
  private static let known = Guarded<[[ObjectIdentifier]: MethodSignature]>(.init())
}
