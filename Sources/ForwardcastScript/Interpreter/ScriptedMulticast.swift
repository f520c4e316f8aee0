// ScriptedMulticast.swift: multicast proxies of any interface.

import Forwardcast
import ForwardcastCenters

/// The multicast proxy of a script, which accepts every receiver.
///
/// `register` casts dynamically, so it also accepts receivers that are not `Sendable`. Such
/// receivers run synchronously, and `World.link` refuses them if their proxy may be used on a
/// queue.
typealias ScriptMulticast = MulticastProxy<any MessageReceiver & Sendable>

struct RegistrationTerms {
  typealias Modifier = @Sendable (Interpreter, inout RegistrationTerms) throws -> Void

  var queue: ScriptQueue?
  var name: String?
  /// The priority; `nil` keeps the position of a target that is already registered.
  var priority: Int?
  var ownership = Ownership.weak
  var only: [MessageSelector]?
}

/// A multicast proxy of unknown interface: a proxy of the script, or one that a host registered.
protocol ScriptedMulticast: ForwardingProxy {
  var holder: any MulticastHolding { get }

  func explain(_ selector: MessageSelector) -> MessageExplanation
  /// - Throws: `type mismatch` if the receiver does not conform to the proxy's interface.
  func register(_ receiver: any MessageReceiver, _ terms: RegistrationTerms) throws -> Registration
  func unregister(_ receiver: any MessageReceiver)
  func collect<Output>(_ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>) throws -> Output
}

extension ScriptValue {
  var multicast: (any ScriptedMulticast)? { reference?.receiver as? any ScriptedMulticast }
}

extension MulticastHolding {
  var liveTargets: [AnyObject] {
    registrations.compactMap { registration in
      guard let target = registration.target else { return nil }
      return target is ScriptObject ? target : interface(of: target).map { $0 as AnyObject }
    }
  }
}

extension MulticastProxy: ScriptedMulticast {
  var holder: any MulticastHolding { self }

  func register(_ receiver: any MessageReceiver, _ terms: RegistrationTerms) throws -> Registration {
    add(try target(receiver), priority: terms.priority, ownership: terms.ownership, only: terms.only)
  }

  private func target(_ receiver: any MessageReceiver) throws -> Interface {
    if let target = receiver as? Interface { return target }
    throw ScriptError(.typeMismatch, "the proxy's targets must be of type \(Interface.self), not \(type(of: receiver))")
  }

  func unregister(_ receiver: any MessageReceiver) { if let target = receiver as? Interface { remove(target) } }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a receiver that is known to be `Sendable`. Any delivery is possible.
  func register(
    crossing receiver: any MessageReceiver, delivery: Delivery, _ terms: RegistrationTerms
  ) throws -> Registration {
    add(
      try target(receiver), delivery: delivery, priority: terms.priority, ownership: terms.ownership, only: terms.only)
  }
}

extension ExtensionPoint: ScriptedMulticast {
  var holder: any MulticastHolding { observers }

  func register(_ receiver: any MessageReceiver, _ terms: RegistrationTerms) throws -> Registration {
    throw ScriptError(
      .typeMismatch, "an extension point has observers instead of targets; use 'register' instead of 'add'")
  }

  func unregister(_ receiver: any MessageReceiver) { if let observer = receiver as? Interface { unregister(observer) } }
}
