// ServiceKey.swift: by what a service is asked for, how it is made, and how long it lives.

/// A name for one service, with the type that it has and the closure that makes it.
///
/// Most services are asked for by their class. A key is for those that are known by a protocol only, that are made with
/// something a center does not know, or that have no type of their own, as in a script:
///
///     extension ServiceKey<any Mailbox> {
///       static let inbox = ServiceKey("inbox") { center in
///         try IMAPMailbox(account: center.service(Account.self))
///       }
///     }
///     let inbox = try center.service(.inbox)
///
/// Keys are equal when name and type are. Where equal keys have different makers, that of whoever asks first is used.
public struct ServiceKey<Service: Sendable>: Hashable, Sendable {
  /// What errors and lists call the service.
  public let name: String
  /// The scope of the center that makes and keeps the service.
  public let scope: ServiceScope
  let id: ServiceID
  let make: @Sendable (ServiceCenter) throws -> Service

  /// A key of that name.
  ///
  /// - Parameters:
  ///   - name: tells services of one type apart.
  ///   - scope: which center makes and keeps the service.
  ///   - make: called once for each center, with the center that has the scope; again after it threw, or after the
  ///     service was removed. A value that adopts ``ServiceLifecycle`` is told of its life.
  public init(
    _ name: String, scope: ServiceScope = .application, make: @escaping @Sendable (ServiceCenter) throws -> Service
  ) {
    (self.name, self.scope, self.make) = (name, scope, make)
    id = ServiceID(type: ObjectIdentifier(Service.self), name: name)
  }

  /// The key of a class, an actor or a struct that a center can make by itself.
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
