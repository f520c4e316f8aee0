// ManagedService.swift: the protocols of services.

/// Callbacks of a ``ServiceCenter`` in the life of a service. All have defaults.
///
/// They run on the thread that caused them, without a lock, and may ask the center for other services. Those of an actor are
/// `nonisolated`, and start a task where they need the actor's state.
public protocol ServiceLifecycle: Sendable {
  /// Completes the service after its construction. Until it has ended, nobody else sees the service; if it throws, the service is
  /// dropped, and its error thrown.
  func serviceDidInit(in center: ServiceCenter) throws

  /// Removes the data of the user who logs out. An error goes to ``ServiceCenter/onError`` and stops neither other callbacks nor
  /// the removal.
  func serviceWillClearData() throws

  /// Called when the program has entered the background.
  func didEnterBackground() throws

  /// Called before the program enters the foreground.
  func willEnterForeground() throws

  /// Called before the program ends.
  func willTerminate() throws

  /// Whether the service survives ``ServiceCenter/clearData()``. Asked each time, after ``serviceWillClearData()``. `false` by
  /// default.
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
/// Only types that adopt the protocol can be asked for. Threads share services, so these are `Sendable`.
public protocol ManagedService: ServiceLifecycle {
  /// Creates the service for `center`, on the thread that asked first.
  ///
  /// Services that it depends on it gets from `center` here. To store the center, use a weak reference, since the center keeps the
  /// service.
  init(in center: ServiceCenter) throws

  /// The scope of the center that makes and keeps the service; ``ServiceScope/application`` by default.
  static var scope: ServiceScope { get }
}

extension ManagedService { public static var scope: ServiceScope { .application } }
