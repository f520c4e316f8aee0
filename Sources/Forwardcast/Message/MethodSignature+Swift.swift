// MethodSignature+Swift.swift: signatures of Swift types.

import Synchronization

extension MethodSignature {
  /// The signature of a method with these Swift types, see `TypeEncoding.init(of:)`.
  ///
  ///     let types = MethodSignature(returning: Bool.self, taking: String.self, Int.self)
  ///     print(types)  // B@:@"String"q
  public init<Result, each Argument>(returning result: Result.Type, taking arguments: repeat (each Argument).Type) {
    var types: [any Any.Type] = [Result.self]
    for argument in repeat each arguments { types.append(argument) }
    self.init(types)
  }

  /// A signature that accepts any values and returns any value (`@@:@@`) or nothing (`v@:@@`).
  package static func objects(arguments: Int, returningVoid: Bool = false) -> MethodSignature {
    let result: any Any.Type = returningVoid ? Void.self : Any.self
    return MethodSignature([result] + Array(repeating: Any.self, count: arguments))
  }

  /// The signature of these types; the first type is the result's. Cached for the process.
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

  /// Its size is bounded by the function types in the code and the number of colons of a selector.
  private static let ofTypes = Guarded<[[ObjectIdentifier]: MethodSignature]>(.init())
}
