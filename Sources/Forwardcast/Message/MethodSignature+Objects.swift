// MethodSignature+Objects.swift: the signature of a message whose types nobody stated.

import Synchronization

extension MethodSignature {
  /// A signature that takes any value for each argument and gives any value, `@@:@@`, or nothing, `v@:@@`.
  package static func objects(arguments: Int, returningVoid: Bool = false) -> MethodSignature {
    let key = arguments * 2 + (returningVoid ? 1 : 0)
    if let known = known.withLock({ key < $0.count ? $0[key] : nil }) { return known }
    let made = MethodSignature(
      returning: returningVoid ? .void : .object, arguments: Array(repeating: .object, count: arguments))
    known.withLock { known in
      if key >= known.count { known += repeatElement(nil, count: key + 1 - known.count) }
      known[key] = made
    }
    return made
  }

  /// One entry for each number of arguments; a selector's length bounds them.
  private static let known = Guarded<[MethodSignature?]>([])
}
