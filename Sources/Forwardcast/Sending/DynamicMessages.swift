// DynamicMessages.swift: messages in call syntax, without keys.

/// Sends messages to many targets by a call's name and labels, unchecked by the compiler.
///
///     themes.dynamic.onAddMsg("alice", msgData: [1, 2])  // selector onAddMsg:msgData:
///     themes.dynamic.progress()                          // selector progress
///
/// Name and labels become a selector as in ``MessageSelector/init(swiftName:)``. A call returns the
/// last answer, or `nil`. Errors are reported like those of `broadcast`.
@dynamicMemberLookup
public struct DynamicMessages {
  private let deliver: (MessageSelector, [ArgumentBox]) -> Any?
  private let refuse: (any Error) -> Void

  package init(deliver: @escaping (MessageSelector, [ArgumentBox]) -> Any?, refuse: @escaping (any Error) -> Void) {
    (self.deliver, self.refuse) = (deliver, refuse)
  }

  /// The message with that base name.
  public subscript(dynamicMember name: String) -> Call { Call(messages: self, name: name) }

  /// A base name, callable with arguments.
  @dynamicCallable
  public struct Call {
    fileprivate let messages: DynamicMessages
    fileprivate let name: String

    /// Sends the message.
    @discardableResult
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) -> Any? {
      do {
        return messages.deliver(try selector(name, arguments), arguments.map { box($0.value) })
      } catch {
        messages.refuse(error)
        return nil
      }
    }
  }
}

/// Sends messages to one receiver by a call's name and labels, see ``DynamicMessages``.
///
///     try screen.dynamic.add(1, to: 2)                 // selector add:to:
///     let sum: Int = try screen.dynamic.add(1, to: 2)  // and the answer as an Int
@dynamicMemberLookup
public struct DynamicSends {
  fileprivate let receiver: any MessageReceiver

  /// The message with that base name.
  public subscript(dynamicMember name: String) -> Call { Call(receiver: receiver, name: name) }

  /// A base name, callable with arguments.
  @dynamicCallable
  public struct Call {
    fileprivate let receiver: any MessageReceiver
    fileprivate let name: String

    /// Sends the message and returns its answer, or `nil`. Throws as
    /// ``MessageReceiver/perform(_:)``, and ``MessageSelectorError`` for an invalid name.
    @discardableResult
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) throws -> Any? {
      try send(arguments).result?.value
    }

    /// Sends the message and returns its answer as `R`. Throws ``MessageError`` if the answer does
    /// not convert to `R`.
    public func dynamicallyCall<R>(withKeywordArguments arguments: KeyValuePairs<String, Any>) throws -> R {
      try typedResult(of: send(arguments), from: receiver)
    }

    private func send(_ arguments: KeyValuePairs<String, Any>) throws -> Invocation {
      var invocation = Invocation(
        try selector(name, arguments), arguments: arguments.map { box($0.value) })
      try receiver.perform(&invocation)
      return invocation
    }
  }
}

extension MessageReceiver {
  /// Sends messages to this receiver by call syntax.
  public var dynamic: DynamicSends { DynamicSends(receiver: self) }
}

/// Boxes a value whose static type is unknown.
private func box(_ value: Any) -> ArgumentBox { ArgumentBox(storage: value, isSendable: isKnownSendable(value)) }

private func selector(_ name: String, _ arguments: KeyValuePairs<String, Any>) throws -> MessageSelector {
  let labels = arguments.map { ($0.key.isEmpty ? "_" : $0.key) + ":" }.joined()
  return try MessageSelector(swiftName: arguments.isEmpty ? name : "\(name)(\(labels))")
}
