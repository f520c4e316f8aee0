// ServicesOnMain.swift: what the page "Services and extension points" says of the main actor.
// Layer: Tests.

import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

// snippet: services-main
protocol PlayerExtension: MessageReceiver, Sendable {}
extension Message<(String) -> Void> { static var didStart: Self { .init("didStart:") } }

@MainActor @Receiver
final class NowPlaying: ManagedService, PlayerExtension {
  private(set) var title = "-"
  nonisolated init(in center: ServiceCenter) {}  // made by whoever asks first, on any thread
  @Message func didStart(_ title: String) { self.title = title }
}
// end

@Suite("Services on the main actor")
struct ServicesOnMain {
  @Test("a lazy observer there hears what any thread sends")
  func lazy() async throws {
    // snippet: services-main-use
    let center = ServiceCenter()
    let extensions = try center.service(ExtensionCenter.self)
    extensions.registerLazily(NowPlaying.self, for: (any PlayerExtension).self, delivery: .mainActor) { $0 }
    await Task.detached { _ = extensions.notify((any PlayerExtension).self, .didStart, "Intermezzo") }.value
    try await extensions.point((any PlayerExtension).self).observers.drain()  // waits for what is queued
    let title = try await center.service(NowPlaying.self).title  // "Intermezzo"
    // end
    expect(title, equals: "Intermezzo")
  }
}
