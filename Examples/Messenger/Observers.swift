// Observers.swift: observers of messages, one of them created on demand.
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

/// An observer that is created and registered explicitly.
final class ChatWindow: MessageExtension {
  func onMessage(_ text: String, from sender: String) { print("  window: \(sender) says \(text)") }
  func onPicture(_ picture: String) { print("  window: a frame for \(picture)") }
}

/// A service that the first picture creates.
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
