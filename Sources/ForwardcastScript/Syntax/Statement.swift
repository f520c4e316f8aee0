// Statement.swift: the syntax tree of statements.

struct Statement: Sendable {
  let kind: Kind
  let offset: Int

  // Large cases are indirect, since a text of 16 MiB may have eight million statements.
  enum Kind: Sendable {
    indirect case receiver(ReceiverDefinition)
    case bind(String, Expression)
    case drop(String)
    indirect case proxy(String, ProxyDefinition)
    case queue(String)
    indirect case add(Addition)
    indirect case remove(Expression, from: Expression)
    case removeAll(from: Expression)
    case registration(RegistrationChange, Expression)
    indirect case hook(HookDefinition)
    case print([Expression])
    indirect case expect(Condition)
    indirect case expectThrows(Expression, text: String?)
    indirect case condition(Condition, then: [Statement], otherwise: [Statement]?)
    case `repeat`(Expression, [Statement])
    case answer(Expression?)
    case `throw`(Expression)
    case wait
    case evaluate(Expression)
    case extensionPoint(String, selectors: [String])
    indirect case register(Expression, in: Expression)
    indirect case registerLazily(receiver: String, in: Expression)
    indirect case unregister(Expression, from: Expression)
    case clearServices
  }
}

/// `receiver Name : Parent { rows }`.
struct ReceiverDefinition: Sendable {
  let name: String
  let parent: String?
  let rows: [RowDefinition]
}

/// `- part: argument "encoding" { … }`.
struct RowDefinition: Sendable {
  enum Body: Sendable {
    case value(Expression)
    case block([Statement])
    case error(String, offset: Int)
  }

  let selector: String
  let arguments: [String]
  /// The type encoding with its place; `nil` where all types are `@`.
  let encoding: (text: String, offset: Int)?
  let body: Body
  let source: SourceText
  let offset: Int
}

/// The definition after `proxy p =`.
enum ProxyDefinition: Sendable {
  enum Option: String, Sendable, CaseIterable {
    case strong, duplicates, throwing, stopping
  }

  case multicast(Set<Option>)
  case forward(to: Expression)
  case lazy(Expression)
  case recording(Expression)
}

/// `add e to p on q priority n only @[…] as r`.
struct Addition: Sendable {
  enum Modifier: Sendable {
    case queue(Expression)
    case priority(Expression)
    case only(Expression)
    case name(String)
  }

  let target: Expression
  let proxy: Expression
  /// In the order of the text; each kind at most once.
  let modifiers: [Modifier]
}

enum RegistrationChange: String, Sendable, CaseIterable {
  case cancel, mute, unmute
}

/// `before p "sel:" { … } as h`.
struct HookDefinition: Sendable {
  enum Moment: String, Sendable, CaseIterable {
    case before, after, around
  }

  let moment: Moment
  let proxy: Expression
  let selector: Expression
  let body: [Statement]
  let name: String?
  var offset: Int { proxy.offset }
}
