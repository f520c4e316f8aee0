// AnsweredMessage.swift: one message that a receiver's tables answer.

/// One message that a receiver's tables answer.
///
///     for message in screen.answeredMessages { print(message) }
///     // addMsg:data: B@:@"String"@ from Screen
public struct AnsweredMessage: Hashable, Sendable {
  /// The origin of a method.
  public enum Source: Hashable, Sendable {
    /// The object's own table.
    case object
    /// A class's table, named by the table's type.
    case table(of: String)
  }

  /// The message.
  public let selector: MessageSelector
  /// The method's types.
  public let signature: MethodSignature
  /// The origin of the method.
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
  /// The messages that this table answers, including inherited messages, sorted by name.
  public var answeredMessages: [AnsweredMessage] { storage.answeredMessages() }
}

extension MessageReceiver {
  /// The messages that the tables of the object, its class and its superclasses answer, sorted by
  /// name. Resolver hooks and forwarding are not considered.
  public var answeredMessages: [AnsweredMessage] {
    let shared = Self.selectorTable.storage
    let own = ownTable(of: self, classTable: shared)
    let found = own?.answeredMessages(from: .object) ?? []
    let hidden = Set(found.map(\.selector))
    let inherited = shared.answeredMessages().filter {
      // A row that the object's table rejected hides the row of the class.
      !hidden.contains($0.selector) && own?.refusal(for: $0.selector) == nil
    }
    return inOrder(found + inherited) { $0.selector.name }
  }
}

extension TableStorage {
  /// - Parameter source: the source of all methods; `nil` means that each method's own table is its
  ///   source.
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
