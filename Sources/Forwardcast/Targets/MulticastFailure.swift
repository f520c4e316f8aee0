// MulticastFailure.swift: errors that nobody is thrown, and who is told of them.

/// An error that a target threw during a broadcast, which itself throws none.
public struct MulticastFailure: Sendable, CustomStringConvertible {
  public let selector: MessageSelector
  /// The type of the target that failed, or of the proxy when nobody responded.
  public let receiver: String
  /// The target's registration; `nil` when nobody responded.
  public let registration: Registration?
  /// What the target threw; of the proxy itself a `MessageError` such as `nobodyResponds`.
  public let error: any Error

  /// Message, target and error: `burn: failed in Cook: the pan is too hot`.
  public var description: String { "\(selector) failed in \(receiver): \(error)" }
}

extension ProxyChain {
  /// Gives an error that nobody receives to the nearest handler, outward; where there is none, or no room on the stack, to
  /// standard error. So a handler that sends again what fails comes to an end.
  func report(_ failure: MulticastFailure) {
    // For the description.
    let text = failure.description
    core.state.withLock { $0.madeRest.lastError = text }
    var next: ProxyChain? = self
    while let here = next {
      if let handler = here.core.onError, StackGuard.tell({ handler(failure) }) { return }
      next = here.outer
    }
    StandardError.write("forwardcast: \(failure)\n")
  }
}

extension StepContext {
  /// Gives an error that happened here to the nearest handler.
  @inline(never) func report(_ error: any Error) {
    let failure = MulticastFailure(selector: selector, receiver: name, registration: registration, error: error)
    proxies.report(failure)
  }
}

extension MulticastCore {
  /// Gives an error of a broadcast to the proxy's handler, or where there is none to standard error.
  @usableFromInline
  @inline(never)
  package func report(_ error: any Error, _ selector: MessageSelector, _ registration: Registration?, receiver: String)
  {
    ProxyChain(self).report(
      MulticastFailure(selector: selector, receiver: receiver, registration: registration, error: error))
  }

  /// Reports the error of one step of a route.
  @usableFromInline
  func report(_ error: any Error, _ selector: MessageSelector, _ step: RouteStep) {
    let registration = step.registration.takeUnretainedValue()
    report(error, selector, registration, receiver: step.target.map { typeName(of: $0) } ?? "a dead target")
  }

  /// Reports failures of which the sender gets only one.
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
