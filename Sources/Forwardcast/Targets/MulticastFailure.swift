// MulticastFailure.swift: errors that no sender catches, and their handlers.

/// An error that no sender catches, such as a target's during a `broadcast`.
public struct MulticastFailure: Sendable, CustomStringConvertible {
  /// The message.
  public let selector: MessageSelector
  /// The type of the failed target, or of the proxy if the error is not a target's.
  public let receiver: String
  /// The target's registration; `nil` if the error is not a registered target's.
  public let registration: Registration?
  /// The target's error, or a ``MessageError`` of the proxy such as `nobodyResponds`.
  public let error: any Error

  /// For example `'burn:' failed in Cook: the pan is too hot`.
  public var description: String {
    // A closure's name already contains its selector.
    let receiver = receiver == "closure for '\(selector)'" ? "a closure" : receiver
    return "'\(selector)' failed in \(receiver): \(error)"
  }
}

extension ProxyChain {
  /// Passes an uncaught error to the nearest handler, searched from this proxy outward. A
  /// handler that exhausts the stack by sending again counts as none. Without a handler, a
  /// ``LostErrorHandling`` target gets the error, and any other error is printed to standard error.
  func report(_ failure: MulticastFailure) {
    let text = failure.description
    core.state.withLock { $0.madeRest.lastError = text }
    var next: ProxyChain? = self
    while let here = next {
      if let handler = here.core.onError, StackGuard.tell({ handler(failure) }) { return }
      next = here.outer
    }
    if let target = failure.registration?.currentTarget as? any LostErrorHandling { return target.handle(failure) }
    StandardError.write("forwardcast: \(failure)\n")
  }
}

/// A target that gets its own errors if neither a sender nor a proxy's handler gets them.
package protocol LostErrorHandling: AnyObject {
  func handle(_ lost: MulticastFailure)
}

extension StepContext {
  /// Passes an error of this step to the nearest handler.
  @inline(never) func report(_ error: any Error) {
    let failure = MulticastFailure(selector: selector, receiver: name, registration: registration, error: error)
    proxies.report(failure)
  }
}

extension MulticastCore {
  /// Passes an uncaught error to the nearest handler, see ``ProxyChain/report(_:)``.
  @usableFromInline
  @inline(never)
  package func report(_ error: any Error, _ selector: MessageSelector, _ registration: Registration?, receiver: String)
  {
    ProxyChain(self).report(
      MulticastFailure(selector: selector, receiver: receiver, registration: registration, error: error))
  }

  @usableFromInline
  func report(_ error: any Error, _ selector: MessageSelector, _ step: RouteStep) {
    let registration = step.registration.takeUnretainedValue()
    report(error, selector, registration, receiver: step.target.map { typeName(of: $0) } ?? "a dead target")
  }

  func report(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    for failure in failures {
      guard let tell = failure.tell else {
        report(failure.error, selector, nil, receiver: typeName(of: failure.target))
        continue
      }
      tell()
    }
  }
}
