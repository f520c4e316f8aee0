// ServiceKey.swift: identifies services of a center, and the scopes of centers.

/// Identifies a service by name and type, and creates it.
///
/// Most services are requested by their type. Use a key for a service that has no type of its own
/// (as in scripts), whose creation needs more than a center, or that clients know only by a
/// protocol:
///
///     extension ServiceKey<any Mailbox> {
///       static let inbox = ServiceKey("inbox") { center in
///         try IMAPMailbox(account: center.service(Account.self))
///       }
///     }
///     let inbox = try center.service(.inbox)
///
/// Keys are equal if their names and types are, but a key made from a type equals no named key. If
/// equal keys have different closures, the key of the first request creates the service.
public struct ServiceKey<Service: Sendable>: Hashable, Sendable {
  /// The name of the service in errors and lists.
  public let name: String
  /// The scope of the center that creates and retains the service.
  public let scope: ServiceScope
  let id: ServiceID
  let make: @Sendable (ServiceCenter) throws -> Service

  /// Creates a key.
  /// - Parameters:
  ///   - name: distinguishes services of one type.
  ///   - scope: the scope of the center that creates and retains the service.
  ///   - make: gets the center of the scope and creates the service. Called once in each center,
  ///     and again after the construction has failed or the service was removed. If the service is
  ///     a ``ServiceLifecycle``, its callbacks are called.
  public init(
    _ name: String, scope: ServiceScope = .application, make: @escaping @Sendable (ServiceCenter) throws -> Service
  ) {
    (self.name, self.scope, self.make) = (name, scope, make)
    id = ServiceID(type: ObjectIdentifier(Service.self), name: name)
  }

  /// The key of a type that a center can create by itself.
  public init(_ type: Service.Type) where Service: ManagedService {
    (name, scope) = ("\(type)", type.scope)
    make = { try Service(in: $0) }
    id = ServiceID(type: ObjectIdentifier(type), name: nil)
  }

  init(_ key: ServiceKey, make: @escaping @Sendable (ServiceCenter) throws -> Service) {
    (name, scope, id) = (key.name, key.scope, key.id)
    self.make = make
  }

  public static func == (left: Self, right: Self) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

struct ServiceID: Hashable, Sendable {
  let type: ObjectIdentifier
  let name: String?
}

/// The lifetime of a center's services, such as the program's or a session's. A scope is only a
/// name. The code that creates a center states the scope and the outer center:
///
///     let application = ServiceCenter()
///     let session = ServiceCenter(.session, in: application)
///     let user = ServiceCenter(.user, in: session)
public struct ServiceScope: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name of the scope in errors and lists.
  public let description: String

  /// Creates a scope of your own.
  public init(_ name: String) { description = name }

  public init(stringLiteral name: String) { description = name }

  /// The services live as long as the program. This is the default.
  public static let application: ServiceScope = "application"
  /// The services live as long as a connection, a document or a window.
  public static let session: ServiceScope = "session"
  /// The services live as long as a user is logged in.
  public static let user: ServiceScope = "user"
}
