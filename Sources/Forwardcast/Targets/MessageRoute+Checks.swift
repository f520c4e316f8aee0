// MessageRoute+Checks.swift: checks a boxed message against a route.

extension MessageRoute {
  /// Checks that the first target which would get the message takes its arguments, also in a nested proxy.
  func checkFirst(_ message: Invocation) throws {
    var asked = Set<ObjectIdentifier>()
    _ = try checkFirst(message, &asked, depth: 0)
  }

  private func checkFirst(_ message: Invocation, _ asked: inout Set<ObjectIdentifier>, depth: Int) throws -> Bool {
    guard depth < ProxyChain.maximumDepth, asked.insert(ObjectIdentifier(core)).inserted else { return false }
    for index in 0..<count {
      let step = steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let method = step.method {
        try method.takeUnretainedValue().check(message.arguments, receiver: typeName(of: target))
        return true
      }
      try message.route?.budget?.charge(.question)
      if let multicast = target as? any MulticastSending {
        if try multicast.route(for: selector).checkFirst(message, &asked, depth: depth + 1) { return true }
      } else if let receiver = target as? any MessageForwarding, ProxyQuestion.takes(receiver, message) {
        try message.checkFits(receiver)
        return true
      }
    }
    return false
  }
}

extension Invocation {
  /// Checks number and types of the arguments against the receiver's own signature.
  fileprivate func checkFits(_ receiver: any MessageForwarding) throws(MessageError) {
    try checkCount(receiver: receiver)
    guard let types = receiver.methodSignature(for: selector)?.argumentTypes, types.count == arguments.count + 2 else {
      return
    }
    var fitted = self
    try fitted.fit(types, typeName(of: receiver))
  }
}
