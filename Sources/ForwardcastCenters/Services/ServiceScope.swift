// ServiceScope.swift: how long services live together.

/// How long the services of one center live: as long as the program, a session, a user.
///
/// A scope is a name. Which center stands for it, and which center it lies in, is said where the centers are made:
///
///     let application = ServiceCenter()
///     let session = ServiceCenter(.session, in: application)
///     let user = ServiceCenter(.user, in: session)
public struct ServiceScope: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name, as errors and lists give it.
  public let description: String

  /// A scope of your own.
  public init(_ name: String) { description = name }

  public init(stringLiteral name: String) { description = name }

  /// As long as the program: where a service belongs that says nothing else.
  public static let application: ServiceScope = "application"
  /// As long as a connection, a document or a window.
  public static let session: ServiceScope = "session"
  /// As long as somebody is logged in.
  public static let user: ServiceScope = "user"
}
