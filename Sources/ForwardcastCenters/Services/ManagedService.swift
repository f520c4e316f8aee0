// ManagedService.swift: the protocols that services adopt.

/// The callbacks of a service, called by its ``ServiceCenter``. By default, they do nothing.
///
/// Callbacks run on the thread that caused them, without a lock, and may request other services. An
/// actor implements them as `nonisolated` methods that start a task to use the actor's state.
public protocol ServiceLifecycle: Sendable {
  /// Completes the service after `init`. Other requests get the service only after this method
  /// returns. If the method throws, the service is released and the request throws the error.
  func serviceDidInit(in center: ServiceCenter) throws

  /// Removes the data of the user who logs out. An error goes to ``ServiceCenter/onError`` and
  /// stops neither other callbacks nor the removal of services.
  func serviceWillClearData() throws

  /// Called when the program has entered the background.
  func didEnterBackground() throws

  /// Called before the program enters the foreground.
  func willEnterForeground() throws

  /// Called before the program ends.
  func willTerminate() throws

  /// True if the service survives ``ServiceCenter/clearData()``, which calls
  /// ``serviceWillClearData()`` first and then reads this property. `false` by default.
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

/// A type of which a ``ServiceCenter`` has one instance: a class, an actor or a struct.
///
///     final class AccountService: ManagedService {
///       let network: NetworkService
///       init(in center: ServiceCenter) throws {
///         network = try center.service(NetworkService.self)
///       }
///     }
///     let account = try ServiceCenter.shared.service(AccountService.self)
///
/// Only conforming types can be requested by type. Threads share services, so services are
/// `Sendable`.
public protocol ManagedService: ServiceLifecycle {
  /// Creates the service for `center`, on the thread of the first request.
  ///
  /// Use `center` here to request the services that this service needs. The center retains the
  /// service, so store the center only in a weak reference.
  init(in center: ServiceCenter) throws

  /// The scope of the center that creates and retains the service. `.application` by default.
  static var scope: ServiceScope { get }
}

extension ManagedService { public static var scope: ServiceScope { .application } }
