// Observers.swift: who wants to know of messages.
// Example: Messenger.

import Forwardcast
import ForwardcastCenters

@Forwarded
protocol MessageExtension: AnyObject, Sendable {
  func onMessage(_ text: String, from sender: String)
  func onPicture(_ picture: String)
}

extension MessageExtension {
  func onMessage(_ text: String, from sender: String) {}
}

typealias Messages = MessageExtensionProxy.Messages

/// An observer like any other: it exists, and it is registered.
final class ChatWindow: MessageExtension {
  func onMessage(_ text: String, from sender: String) { print("  window: \(sender) says \(text)") }
  func onPicture(_ picture: String) { print("  window: a frame for \(picture)") }
}

/// A service that is made by the first picture: until then nobody pays for it.
final class GalleryService: ManagedService, MessageExtension, PartialTarget {
  static let unimplemented = [Messages.onMessage.selector]
  private let cdn: CDNService
  init(in center: ServiceCenter) throws {
    cdn = try center.service()
    print("  gallery service made")
  }
  deinit { print("  gallery service gone") }

  func onPicture(_ picture: String) { print("  gallery: \(cdn.load(picture))") }
}
