// MessageRoute+Checks.swift: validates a boxed message against a route.

extension MessageRoute {
  /// Checks the arguments against the target that gets them first, even if in a nested proxy.
  func checkFirst(_ message: Invocation) throws {
    _ = try first { target, method -> Void? in
      if let method { return try method.check(message.arguments, receiver: typeName(of: target)) }
      try message.route?.budget?.charge(.question)
      guard let receiver = target as? any MessageForwarding, !(target is any MulticastSending),
        ProxyQuestion.takes(receiver, message)
      else { return nil }
      return try message.checkFits(receiver)
    }
  }

  /// Calls `ask` with each active target and its method (`nil` if unknown), in delivery order.
  /// Returns the first result. Searches each nested proxy once, up to the depth limit.
  func first<T>(_ ask: (AnyObject, Method?) throws -> T?, otherwise: (MessageRoute) -> T? = { _ in nil }) rethrows
    -> T?
  {
    var seen = Set<ObjectIdentifier>()
    return try first(&seen, depth: 0, ask, otherwise)
  }

  private func first<T>(
    _ seen: inout Set<ObjectIdentifier>, depth: Int, _ ask: (AnyObject, Method?) throws -> T?,
    _ otherwise: (MessageRoute) -> T?
  ) rethrows -> T? {
    guard depth < ProxyChain.maximumDepth, seen.insert(ObjectIdentifier(core)).inserted else { return nil }
    for index in 0..<count {
      let step = steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let found = try ask(target, step.method?.takeUnretainedValue()) { return found }
      guard step.method == nil, let multicast = target as? any MulticastSending else { continue }
      if let found = try multicast.route(for: selector).first(&seen, depth: depth + 1, ask, otherwise) {
        return found
      }
    }
    return otherwise(self)
  }
}

extension Invocation {
  /// Checks the number and types of the arguments against the receiver's own signature.
  fileprivate func checkFits(_ receiver: any MessageForwarding) throws(MessageError) {
    try checkCount(receiver: receiver)
    guard let types = receiver.methodSignature(for: selector)?.argumentTypes, types.count == arguments.count + 2 else {
      return
    }
    var fitted = self
    try fitted.fit(types, typeName(of: receiver))
  }
}
