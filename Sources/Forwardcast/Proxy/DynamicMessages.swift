// DynamicMessages.swift: messages written like calls, without a key.
// Layer: Proxy. See DESIGN.md, "Dynamic calls".

/// Sends messages by the name and labels of a call that the compiler does not check.
///
///     themes.dynamic.onAddMsg("alice", msgData: [1, 2])     // selector onAddMsg:msgData:
///     themes.dynamic.progress()                             // selector progress
///
/// The name and the labels become a selector by the rule of ``MessageSelector/init(swiftName:)``. The answer is the
/// last target's, or `nil`; errors go where those of a broadcast go.
@dynamicMemberLookup
public struct DynamicMessages {
  let deliver: (MessageSelector, [ArgumentBox]) -> Any?
  let refuse: (any Error) -> Void

  /// The message of that base name.
  public subscript(dynamicMember name: String) -> Call { Call(messages: self, name: name) }

  /// A base name that waits for its arguments.
  @dynamicCallable
  public struct Call {
    let messages: DynamicMessages
    let name: String

    /// Sends the message.
    @discardableResult
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> Any? {
      let labels = arguments.map { ($0.key.isEmpty ? "_" : $0.key) + ":" }.joined()
      do {
        let selector = try MessageSelector(swiftName: arguments.isEmpty ? name : "\(name)(\(labels))")
        return messages.deliver(selector, arguments.map { ArgumentBox($0.value) })
      } catch {
        messages.refuse(error)
        return nil
      }
    }
  }
}
