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
    var types: [any Any.Type] = [Result.self]
    for argument in repeat each arguments { types.append(argument) }
    self.init(types)
  }

  /// A signature that takes any value for each argument and gives any value, `@@:@@`, or nothing, `v@:@@`.
  package static func objects(arguments: Int, returningVoid: Bool = false) -> MethodSignature {
    let result: any Any.Type = returningVoid ? Void.self : Any.self
    return MethodSignature([result] + Array(repeating: Any.self, count: arguments))
  }

  /// The signature of these types: the result's, then the arguments'; made once for each list of types in the process.
  @inline(never) private init(_ types: [any Any.Type]) {
    let key = types.map(ObjectIdentifier.init)
    if let known = Self.ofTypes.withLock({ $0[key] }) {
      self = known
      return
    }
    let made = MethodSignature(
      returning: TypeEncoding(of: types[0]), arguments: types.dropFirst().map(TypeEncoding.init(of:)))
    self = Self.ofTypes.withLock { known in
      if let earlier = known[key] { return earlier }
      known[key] = made
      return made
    }
  }

  /// Grows with the function types a program is written with, not with its input.
  private static let ofTypes = Guarded<[[ObjectIdentifier]: MethodSignature]>(.init())
}
