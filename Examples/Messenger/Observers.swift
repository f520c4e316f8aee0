// Observers.swift: who wants to know of messages.
// Example: Messenger.

import Forwardcast
import ForwardcastCenters

protocol MessageExtension: MessageReceiver, Sendable {}
extension Message<(String, String) -> Void> { static var onMessage: Self { .init("onMessage:from:") } }
extension Message<(String) -> Void> { static var onPicture: Self { .init("onPicture:") } }

/// An observer like any other: it exists, and it is registered.
@Receiver
final class ChatWindow: MessageExtension {
  @Message func onMessage(_ text: String, from sender: String) { print("  window: \(sender) says \(text)") }
  @Message func onPicture(_ picture: String) { print("  window: a frame for \(picture)") }
}

/// A service that is made by the first picture: until then nobody pays for it.
@Receiver
final class GalleryService: ManagedService, MessageExtension {
  private let cdn: CDNService
  init(in center: ServiceCenter) throws {
    cdn = try center.service()
    print("  gallery service made")
  }
  deinit { print("  gallery service gone") }

  @Message func onPicture(_ picture: String) { print("  gallery: \(cdn.load(picture))") }
}
