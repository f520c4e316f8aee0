// Member.swift: one method, property or subscript of a protocol or a class.

/// A declaration modifier with its argument: `private(set)`.
struct Modifier {
  let word: String
  let detail: String?
  let positions: Range<Int>
}

struct Parameter {
  let label: String?
  let name: String
  /// Attributes of the parameter, such as result builders.
  let attributes: [String]
  var type: TypeText
  let isVariadic: Bool
  let positions: Range<Int>
}

enum Throwing: Equatable {
  case never
  case untyped
  case typed(String)
}

struct Effects: Equatable {
  var isAsync = false
  var throwing = Throwing.never
}

struct Member {
  enum Kind: Equatable {
    case method
    case property
    case subscripted
    /// Any other member, by its keyword: `init`, `associatedtype`.
    case other(String)
  }

  var kind: Kind
  var attributes: [Attribute] = []
  var modifiers: [Modifier] = []
  var name: String
  /// The tokens to mark for a problem of the whole member.
  var namePositions: Range<Int>
  /// The generic parameter clause or, without one, the `where` clause.
  var generics: Range<Int>?
  var parameters: [Parameter] = []
  var effects = Effects()
  var rethrowsPosition: Int?
  var type: TypeText?
  var isSettable = false
  /// How answers are combined; set by ``ProtocolChecker``.
  var plan: AnswerPlan?
  var namedType: NamedType?
  var isConstant = false
  var setterIsNonmutating = false
  var documentation: [String] = []
  /// The enclosing `#if` branches, outermost first.
  var branches: [Branch] = []
  var positions: Range<Int>

  var plainName: String { name.withoutBackticks }
  var isolation: Isolation? { Isolation(modifiers, attributes) }

  func attribute(_ short: String) -> Attribute? { attributes.first { $0.isOurs(short) } }
  func modifier(_ word: String) -> Modifier? { modifiers.first { $0.word == word } }

  var answers: Bool { type.map { !$0.isVoid } ?? false }

  /// True if a parameter states an ownership, as noncopyable parameters must.
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

/// An associated type or a `typealias`.
struct NamedType {
  let name: String
  var isAssociated = true
  let position: Int
  let constraint: String?
  var isFunction = false
  var hasDefault = false
  let requirements: String?
}

struct Branch: Hashable {
  let group: Int
  var index: Int
}

/// An element of a declaration's body: a member or its messages, or an `#if` line.
enum Item<Element> {
  case element(Element)
  case directive(String)

  var element: Element? { if case .element(let element) = self { element } else { nil } }
}
