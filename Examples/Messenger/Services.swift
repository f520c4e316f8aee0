// Services.swift: what a messenger has one of.
// Example: Messenger.

import Forwardcast
import ForwardcastCenters
import Synchronization

/// Who is logged in.
final class AccountService: ManagedService {
  private let user = Mutex<String?>(nil)
  init(in center: ServiceCenter) { print("  account service made") }

  var name: String { user.withLock { $0 ?? "nobody" } }
  func logIn(_ name: String) { user.withLock { $0 = name } }
  func serviceWillClearData() { print("  account service forgets \(name)") }
  deinit { print("  account service gone") }
}

/// Where pictures come from. What it has loaded belongs to nobody, so it outlives a log-out.
final class CDNService: ManagedService {
  private let cache = Mutex<Set<String>>([])
  init(in center: ServiceCenter) { print("  CDN service made") }
  var isPersistent: Bool { true }

  func load(_ picture: String) -> String {
    cache.withLock { $0.insert(picture).inserted } ? "\(picture) loaded" : "\(picture) from the cache"
  }
}

/// What the server sends goes to everybody who registered, and on request to those who do not exist yet.
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
