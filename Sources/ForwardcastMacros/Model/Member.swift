// Member.swift: one method, property or subscript of a protocol or a class.

/// A word before a declaration, with what stands in its brackets: `private(set)`.
struct Modifier {
  let word: String
  let detail: String?
  let positions: Range<Int>
}

/// One parameter of a method or a subscript.
struct Parameter {
  /// The label of a call; `nil` where there is none.
  let label: String?
  /// The name inside of the body.
  let name: String
  /// Attributes of the parameter itself, such as result builders.
  let attributes: String
  var type: TypeText
  let isVariadic: Bool
  /// The tokens from the first name to behind the type.
  let positions: Range<Int>
}

enum Throwing: Equatable {
  case never
  case untyped
  case typed(String)
}

/// What an accessor or a method does besides answering.
struct Effects: Equatable {
  var isAsync = false
  var throwing = Throwing.never
}

/// One member as it was declared.
struct Member {
  enum Kind: Equatable {
    case method
    case property
    case subscripted
    /// Anything else, by the word that declares it: `init`, `associatedtype`, `static func`.
    case other(String)
  }

  var kind: Kind
  var attributes: [Attribute] = []
  var modifiers: [Modifier] = []
  /// The name as written, backticks included.
  var name: String
  /// The tokens to blame when the member as a whole cannot be carried.
  var namePositions: Range<Int>
  var isRawName = false
  /// The tokens of a generic parameter clause or a `where`.
  var generics: Range<Int>?
  var parameters: [Parameter] = []
  var effects = Effects()
  /// The tokens of `rethrows`.
  var rethrowsPosition: Int?
  /// The type of the result or property; `nil` where none is written.
  var type: TypeText?
  var isSettable = false
  /// The name that an `associatedtype` or `typealias` declares, with what is said of it.
  var namedType: NamedType?
  /// Whether the property was declared with `let`.
  var isConstant = false
  var setterIsNonmutating = false
  var documentation: [String] = []
  /// The branches of `#if` around the member.
  var branches: [Branch] = []
  var positions: Range<Int>

  var plainName: String { name.withoutBackticks }
  /// The isolation that the member states itself.
  var isolation: Isolation? { Isolation(modifiers, attributes) }

  func attribute(_ short: String) -> Attribute? { attributes.first { $0.isOurs(short) } }
  func modifier(_ word: String) -> Modifier? { modifiers.first { $0.word == word } }

  var answers: Bool { type.map { !$0.isVoid } ?? false }

  /// Whether an argument says whose it is, as one that cannot be copied has to.
  var needsCopies: Bool {
    parameters.contains { !$0.type.specifiers.isDisjoint(with: ["borrowing", "consuming", "__owned", "__shared"]) }
  }

  var isOptional: Bool { modifier("optional") != nil }

  /// Whether both members can be part of one build.
  func canStandBeside(_ other: Member) -> Bool {
    for (own, others) in zip(branches, other.branches) {
      if own.group != others.group { return true }
      if own.index != others.index { return false }
    }
    return true
  }
}

/// A type that a protocol names.
struct NamedType {
  let name: String
  /// Where the name stands.
  let position: Int
  /// What follows a colon.
  let constraint: String?
  /// Whether something follows a `=`.
  var hasDefault = false
  /// What follows `where`.
  let requirements: String?
}

/// One branch of an `#if`.
struct Branch: Equatable {
  let group: Int
  let index: Int
}

/// What stands between the brackets of a declaration, in order.
enum MemberItem {
  case member(Member)
  /// A line of an `#if`, as it is.
  case directive(String)

  var member: Member? { if case .member(let member) = self { member } else { nil } }
}
