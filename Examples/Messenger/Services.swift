// Services.swift: the services of a messenger, one instance each.
// Example: Messenger.

import Forwardcast
import ForwardcastCenters
import Synchronization

/// Stores who is logged in.
final class AccountService: ManagedService {
  private let user = Mutex<String?>(nil)
  init(in center: ServiceCenter) { print("  account service made") }

  var name: String { user.withLock { $0 ?? "nobody" } }
  func logIn(_ name: String) { user.withLock { $0 = name } }
  func serviceWillClearData() { print("  account service forgets \(name)") }
  deinit { print("  account service gone") }
}

/// Loads pictures. The cache belongs to no user, so the service persists across log-outs.
final class CDNService: ManagedService {
  private let cache = Mutex<Set<String>>([])
  init(in center: ServiceCenter) { print("  CDN service made") }
  var isPersistent: Bool { true }

  func load(_ picture: String) -> String {
    cache.withLock { $0.insert(picture).inserted } ? "\(picture) loaded" : "\(picture) from the cache"
  }
}

/// Passes messages of the server to all observers, and creates the lazy ones.
final class MessageService: ManagedService {
  private let account: AccountService
  private let point: ExtensionPoint<any MessageExtension>

  init(in center: ServiceCenter) throws {
    account = try center.service()
    point = try center.service(ExtensionCenter.self).point((any MessageExtension).self)
    print("  message service made for \(account.name)")
  }

  func arrive(_ text: String, from sender: String) { point.broadcast(Messages.onMessage, text, sender) }
  func arrive(picture: String) { point.broadcast(Messages.onPicture, picture) }
  deinit { print("  message service gone") }
}
