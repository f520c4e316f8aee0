// ManagedService.swift: what a service center asks of a service, and tells it.

/// What a ``ServiceCenter`` tells a service in the course of its life. Every hook has a default that does nothing.
///
/// Hooks run on the thread that caused them, with no lock held, and may ask the center for other services. Those of an
/// actor are `nonisolated`; they start a task where they need the actor's state.
public protocol ServiceLifecycle: Sendable {
  /// Completes the service once it is constructed. Nobody else sees it before this has ended; when it throws, the service
  /// is dropped and whoever asked gets the error.
  /// - Parameter center: the center that made it, where it finds other services.
  func serviceDidInit(in center: ServiceCenter) throws

  /// Forgets what belongs to who is logging out. An error goes to ``ServiceCenter/onError`` and keeps nobody else, nor
  /// the removal, from its turn.
  func serviceWillClearData() throws

  /// The program has left the screen.
  func didEnterBackground() throws

  /// The program is about to be on the screen again.
  func willEnterForeground() throws

  /// The program is about to end.
  func willTerminate() throws

  /// Whether the service stays in its center when ``ServiceCenter/clearData()`` has been called. Asked each time, after
  /// ``serviceWillClearData()``. The default is `false`.
  var isPersistent: Bool { get }
}

extension ServiceLifecycle {
  public func serviceDidInit(in center: ServiceCenter) throws {}
  public func serviceWillClearData() throws {}
  public func didEnterBackground() throws {}
  public func willEnterForeground() throws {}
  public func willTerminate() throws {}
  public var isPersistent: Bool { false }
}

/// A type of which a ``ServiceCenter`` has one instance: a class with or without a base class, an actor, or a struct.
///
///     final class AccountService: ManagedService {
///       let network: NetworkService
///       init(in center: ServiceCenter) throws {
///         network = try center.service(NetworkService.self)
///       }
///     }
///     let account = try ServiceCenter.shared.service(AccountService.self)
///
/// A type that does not adopt the protocol cannot be asked for: that is a compile-time error. Services are shared between
/// threads, so they are `Sendable`.
public protocol ManagedService: ServiceLifecycle {
  /// Makes the service on behalf of `center`, on the thread of whoever asked first.
  ///
  /// A service that needs others takes them from `center` here, and so states what it depends on. One that keeps the
  /// center itself keeps it weakly: the center keeps the service.
  init(in center: ServiceCenter) throws

  /// The scope of the center that makes and keeps the service. The default is ``ServiceScope/application``.
  static var scope: ServiceScope { get }
}

extension ManagedService { public static var scope: ServiceScope { .application } }
