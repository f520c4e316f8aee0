// Invocation+ContentKey.swift: messages compared by their contents.

extension Invocation {
  /// A message's selector and arguments, for finding equal messages.
  public struct ContentKey: Hashable {
    private let selector: MessageSelector
    private let arguments: [AnyHashable]

    fileprivate init(_ selector: MessageSelector, _ arguments: [AnyHashable]) {
      (self.selector, self.arguments) = (selector, arguments)
    }
  }

  /// A key that equal messages share; `nil` if an argument is not `Hashable`. Numbers of different
  /// types are equal by value. Stated types and results are ignored.
  public var contentKey: ContentKey? {
    var values: [AnyHashable] = []
    for argument in arguments {
      guard let value = argument.value as? AnyHashable else { return nil }
      values.append(value)
    }
    return ContentKey(selector, values)
  }
}
