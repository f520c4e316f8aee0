// ServiceError.swift: why a center could not give a service, and what became of a hook.

/// Why a center could not give a service, apart from what the service itself threw.
public struct ServiceError: Error, Hashable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// A service needs itself in order to be made.
    public static let constructionCycle = Code(description: "construction cycle")
    /// Neither the center that was asked nor one that it lies in has the service's scope.
    public static let outOfScope = Code(description: "out of scope")
    /// The center of an extension point is gone, so that nothing can make its lazy observers.
    public static let centerIsGone = Code(description: "service center is gone")
    /// A lazy observer is not an object, so that it cannot be kept weakly.
    public static let notAnObject = Code(description: "not an object")
  }

  public let code: Code
  /// The service that was asked for.
  public let service: String
  /// For a cycle: every service under construction and every resolver hook that runs, from the one that was asked for first
  /// to the one that closes the circle. Otherwise the scopes from the center that was asked outwards.
  public let chain: [String]

  public var description: String {
    switch code {
    case .constructionCycle: "\(code): \(chain.joined(separator: " → "))"
    case .outOfScope: "\(code): \(service), asked of \(chain.joined(separator: " in "))"
    default: "\(code): \(service)"
    }
  }
}

/// An error of a hook that a center called on a service.
public struct ServiceFailure: Sendable, CustomStringConvertible {
  /// The name of the service's type or key.
  public let service: String
  /// The name of the hook, such as `didEnterBackground`.
  public let hook: String
  /// What the hook threw.
  public let error: any Error

  public var description: String { "\(hook) failed in \(service): \(error)" }
}
