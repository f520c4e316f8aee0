// ServiceError.swift: errors of service centers and of callbacks.

/// Why a center cannot provide a service. Errors of the service's own code are not wrapped.
public struct ServiceError: Error, Hashable, CustomStringConvertible {
  /// The kind of error. More kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// A service depends on itself.
    public static let constructionCycle = Code(description: "construction cycle")
    /// Neither the center nor an outer center has the service's scope.
    public static let outOfScope = Code(description: "out of scope")
    /// The service center of an extension point was released, so the point cannot create lazy
    /// observers.
    public static let centerIsGone = Code(description: "service center was released")
    /// A lazy observer is not an object, so it cannot be referenced weakly.
    public static let notAnObject = Code(description: "not an object")
  }

  /// The kind of error.
  public let code: Code
  /// The requested service.
  public let service: String
  /// For a cycle, the services under construction and the running calls of `resolveMethod(for:)`,
  /// in the order in which each requested the next. For ``Code/outOfScope``, the scopes of the
  /// center and of its outer centers.
  public let chain: [String]
  /// The service's scope, for ``Code/outOfScope``.
  var scope = ""

  public var description: String {
    switch code {
    case .constructionCycle: "\(code): \(chain.joined(separator: " → "))"
    case .outOfScope:
      "\(code): \(service) has the scope \(scope), but was requested from \(chain.joined(separator: " in "))"
        + "; request it from a center of that scope, or from one inside it"
    case .centerIsGone: "\(code): \(service) cannot be created; retain the center"
    case .notAnObject: "\(code): the observer made from '\(service)' is a value; map the service to an object"
    default: "\(code): \(service)"
    }
  }
}

/// An error of a service's callback.
public struct ServiceFailure: Sendable, CustomStringConvertible {
  /// The name of the service's type or key.
  public let service: String
  /// The name of the callback, such as `didEnterBackground`.
  public let hook: String
  /// The error that the callback threw.
  public let error: any Error

  public var description: String { "\(hook) failed in \(service): \(error)" }
}
