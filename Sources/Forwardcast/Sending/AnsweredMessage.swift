// AnsweredMessage.swift: what a receiver answers, and from where.

/// One message that a receiver answers from a table.
///
///     // addMsg:data: B@:@"String"@  from Screen:
///     for message in screen.answeredMessages { print(message) }
public struct AnsweredMessage: Hashable, Sendable {
  /// Where a method comes from.
  public enum Source: Hashable, Sendable {
    /// The table of the one object.
    case object
    /// A class's table, by the name of the type that the table is for.
    case table(of: String)
  }

  /// The message.
  public let selector: MessageSelector
  /// The method's types.
  public let signature: MethodSignature
  /// Where the method comes from.
  public let source: Source
}

extension AnsweredMessage: CustomStringConvertible {
  /// For example `addMsg:data: B@:@"String"@ from Screen`.
  public var description: String {
    let place = if case .table(let name) = source { name } else { "the object" }
    return "\(selector) \(signature) from \(place)"
  }
}

extension SelectorTable {
  /// Every message that this table answers, inherited ones included, sorted by name.
  public var answeredMessages: [AnsweredMessage] { storage.answeredMessages() }
}

extension MessageReceiver {
  /// Every message that the receiver's tables answer, sorted by name: object table, class's, superclasses'. Not what a resolver
  /// hook would add or the receiver would forward.
  public var answeredMessages: [AnsweredMessage] {
    let shared = Self.selectorTable.storage
    let own = ownTable(of: self, classTable: shared)?.answeredMessages(from: .object) ?? []
    let hidden = Set(own.map(\.selector))
    return inOrder(own + shared.answeredMessages().filter { !hidden.contains($0.selector) }) { $0.selector.name }
  }
}

extension TableStorage {
  /// - Parameter source: `nil` for each table's own.
  @inline(never) fileprivate func answeredMessages(from source: AnsweredMessage.Source? = nil) -> [AnsweredMessage] {
    let found = selectors.compactMap { selector in
      find(selector).map {
        AnsweredMessage(
          selector: selector, signature: $0.signature, source: source ?? .table(of: $0.owner.targetName))
      }
    }
    return inOrder(found) { $0.selector.name }
  }
}
