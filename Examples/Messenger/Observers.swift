// Observers.swift: who wants to know of messages.
// Example: Messenger.

import Forwardcast

protocol MessageExtension: MessageReceiver, Sendable {}
extension Message<(String, String) -> Void> { static var onMessage: Self { .init("onMessage:from:") } }
extension Message<(String) -> Void> { static var onPicture: Self { .init("onPicture:") } }

/// An observer like any other: it exists, and it is registered.
final class ChatWindow: MessageExtension {
  static let selectorTable = SelectorTable(for: ChatWindow.self) {
    Responds(to: .onMessage) { _, text, sender in print("  window: \(sender) says \(text)") }
    Responds(to: .onPicture) { _, picture in print("  window: a frame for \(picture)") }
  }
}

/// A service that is made by the first picture: until then nobody pays for it.
final class GalleryService: ManagedService, MessageExtension {
  private let cdn: CDNService
  init(in center: ServiceCenter) throws {
    cdn = try center.service()
    print("  gallery service made")
  }
  deinit { print("  gallery service gone") }

  static let selectorTable = SelectorTable(for: GalleryService.self) {
    Responds(to: .onPicture) { gallery, picture in print("  gallery: \(gallery.cdn.load(picture))") }
  }
}
