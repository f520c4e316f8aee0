// MethodSignature.swift: the types of one method.

/// The types of one method, read from an Objective-C type encoding. Argument 0 is the receiver, 1
/// is the selector, and the sender's arguments start at 2. Signatures are equal if their types are;
/// offsets and frame lengths are ignored.
///
///     let signature = try MethodSignature("d32@0:8d16d24")
///     signature.argumentTypes.count   // 4
///     signature.returnType            // .double
///     signature.argumentOffsets       // [0, 8, 16, 24]
///     signature.frameLength           // 32
public struct MethodSignature: Hashable, Sendable, CustomStringConvertible {
  private final class Storage: Sendable {
    let returnType: TypeEncoding
    let argumentTypes: [TypeEncoding]
    let statedFrameLength: Int?
    /// The digits after each argument's type, with the sign that some runtimes write for arguments
    /// in registers. Empty if no argument has digits.
    let statedOffsets: [String?]

    init(_ returnType: TypeEncoding, _ argumentTypes: [TypeEncoding], _ frameLength: Int?, _ offsets: [String?]) {
      (self.returnType, self.argumentTypes, statedFrameLength) = (returnType, argumentTypes, frameLength)
      statedOffsets = offsets.contains { $0 != nil } ? offsets : []
    }
  }

  private let storage: Storage

  /// Reads a signature, return type first: `"v@:q"` or, with offsets, `"v24@0:8q16"`.
  ///
  /// - Parameter encoding: text in the grammar of [Type Encodings][types]. The module's page lists
  ///   extensions.
  /// - Throws: ``TypeEncodingError`` with the byte that could not be read.
  /// - Complexity: O(*n*) in the length of `encoding`.
  ///
  /// [types]:
  /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/ObjCRuntimeGuide/Articles/ocrtTypeEncodings.html
  public init(_ encoding: String) throws(TypeEncodingError) {
    var parser = try TypeEncodingParser(encoding)
    let returnType = try parser.readType()
    let frameLength = try parser.readNumberIfAny()
    var types: [TypeEncoding] = []
    var offsets: [String?] = []
    types.reserveCapacity(4)
    offsets.reserveCapacity(4)
    while types.count < 2 || !parser.isAtEnd {
      let start = parser.position
      if parser.isAtEnd { throw parser.error(types.isEmpty ? .receiverExpected : .selectorExpected) }
      let type = try parser.readType()
      switch (types.count, type.kind) {
      case (0, .object), (0, .classObject), (1, .selector), (2..., _): break
      default: throw parser.error(types.isEmpty ? .receiverExpected : .selectorExpected, at: start)
      }
      types.append(type)
      offsets.append(try parser.readOffsetIfAny())
    }
    storage = Storage(returnType, types, frameLength, offsets)
  }

  /// A signature without digits. `arguments` begins with the sender's first argument.
  package init(returning returnType: TypeEncoding, arguments: [TypeEncoding]) {
    storage = Storage(returnType, [.object, .selector] + arguments, nil, [])
  }

  /// The return type, with qualifiers such as `oneway`.
  public var returnType: TypeEncoding { storage.returnType }

  /// The types of the receiver, the selector and the sender's arguments, with qualifiers.
  public var argumentTypes: [TypeEncoding] { storage.argumentTypes }

  /// The number of arguments, including receiver and selector: the selector's colons plus 2.
  public var numberOfArguments: Int { storage.argumentTypes.count }

  /// True if the sender does not wait for the method: the return type has the qualifier `V`.
  public var isOneway: Bool { returnType.qualifiers.contains(.oneway) }

  /// The size of the result in bytes: 0 for `v`, `nil` if the encoding does not determine it.
  public var returnLength: Int? { returnType.kind == .void ? 0 : returnType.layout?.size }

  /// The layouts of the arguments as the method receives them. An array arrives as a pointer.
  public var argumentLayouts: [TypeLayout?] { argumentLayouts(on: .current) }

  /// The layouts of the arguments on `target`: see ``argumentLayouts``.
  public func argumentLayouts(on target: TypeLayout.Target) -> [TypeLayout?] {
    argumentTypes.map { Self.argumentLayout($0, on: target) }
  }

  /// The offset of each argument in the argument frame, in bytes, as the encoding states it. An
  /// unstated offset is computed as by a C compiler for this machine: the frame has no gaps, and an
  /// integer takes at least as many bytes as an `int`. `nil` after an argument of unknown size.
  public var argumentOffsets: [Int?] {
    let computed = frame(on: .current).offsets
    guard !storage.statedOffsets.isEmpty else { return computed }
    return zip(storage.statedOffsets, computed).map { $0.flatMap { Int($0) } ?? $1 }
  }

  /// The size of the argument frame in bytes, stated or computed as in ``argumentOffsets``. `nil`
  /// if it is not stated and the size of an argument is unknown.
  public var frameLength: Int? { storage.statedFrameLength ?? frame(on: .current).length }

  /// The frame's length, if the encoding states it.
  public var statedFrameLength: Int? { storage.statedFrameLength }

  /// The arguments' offsets where the encoding states them; negative after a minus sign.
  public var statedOffsets: [Int?] {
    if storage.statedOffsets.isEmpty { return argumentTypes.map { _ in nil } }
    return storage.statedOffsets.map { $0.flatMap { Int($0) } }
  }

  /// The argument frame as a C compiler for `target` computes it. Ignores digits in the encoding.
  /// - Returns: the argument offsets, `nil` after an argument of unknown size; the frame's length.
  /// - Complexity: O(*n*) in the length of the encoding.
  public func frame(on target: TypeLayout.Target) -> (offsets: [Int?], length: Int?) {
    var next: Int? = 0
    var offsets: [Int?] = []
    for type in argumentTypes {
      offsets.append(next)
      if let place = next, let length = Self.frameLength(of: type, on: target) {
        let (end, overflow) = place.addingReportingOverflow(length)
        next = overflow ? nil : end
      } else {
        next = nil
      }
    }
    return (offsets, next)
  }

  private static func argumentLayout(_ type: TypeEncoding, on target: TypeLayout.Target) -> TypeLayout? {
    if case .array = type.kind { return .pointer(on: target) }
    return type.layout(on: target)
  }

  private static func frameLength(of type: TypeEncoding, on target: TypeLayout.Target) -> Int? {
    guard let size = argumentLayout(type, on: target)?.size else { return nil }
    if case .scalar(let scalar) = type.kind, scalar.isInteger, !type.qualifiers.contains(.atomic) {
      return max(size, 4)
    }
    return size
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.storage === right.storage
      || left.returnType == right.returnType && left.argumentTypes == right.argumentTypes
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(returnType)
    hasher.combine(argumentTypes)
  }

  /// How closely two signatures must match. Each case also accepts what the preceding cases accept.
  public enum MatchStrength: Hashable, Sendable, CaseIterable {
    /// Types, names and qualifiers are equal, as for `==`.
    case strict
    /// As for `strict`, but return types may differ.
    case ignoringReturnType
    /// Arguments match by ``TypeEncoding/matchesLeniently(_:)``; return types may differ.
    case lenient
  }

  /// True if the signatures match. Ignores offsets and frame lengths.
  ///
  ///     let named = try MethodSignature("v@:@\"NSString\"")
  ///     let plain = try MethodSignature("v24@0:8@16")
  ///     named.matches(plain)             // false
  ///     named.matches(plain, .lenient)   // true
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  public func matches(_ other: MethodSignature, _ strength: MatchStrength = .strict) -> Bool {
    switch strength {
    case .strict: return self == other
    case .ignoringReturnType: return argumentTypes == other.argumentTypes
    case .lenient:
      return numberOfArguments == other.numberOfArguments
        && zip(argumentTypes, other.argumentTypes).allSatisfy { $0.matchesLeniently($1) }
    }
  }

  /// The text that the signature was read from, byte for byte.
  public var description: String {
    var text = returnType.description + (statedFrameLength.map { "\($0)" } ?? "")
    for (index, type) in argumentTypes.enumerated() {
      text += type.description
      if index < storage.statedOffsets.count, let offset = storage.statedOffsets[index] { text += offset }
    }
    return text
  }
}
