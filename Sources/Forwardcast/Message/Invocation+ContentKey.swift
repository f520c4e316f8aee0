// Invocation+ContentKey.swift: messages compared by their contents.

extension Invocation {
  /// A message's selector and arguments, to find equal messages.
  public struct ContentKey: Hashable {
    private let selector: MessageSelector
    private let arguments: [AnyHashable]

    fileprivate init(_ selector: MessageSelector, _ arguments: [AnyHashable]) {
      (self.selector, self.arguments) = (selector, arguments)
    }
  }

  /// The key of equal messages in a dictionary or set; `nil` if an argument is not `Hashable`.
  ///
  /// Numbers of different types are equal if their values are. Ignores stated types and results.
  public var contentKey: ContentKey? {
    var values: [AnyHashable] = []
    for argument in arguments {
      guard let value = argument.value as? AnyHashable else { return nil }
      values.append(value)
    }
    return ContentKey(selector, values)
  }
}
