// ServicesOnMain.swift: services on the main actor, from the page "Services and Extension Points".

import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

// snippet: services-main
nonisolated protocol PlayerExtension: MessageReceiver, Sendable {}
nonisolated extension Message<(String) -> Void> {
  static var didStart: Self { .init("didStart:") }
}

@MainActor @Receiver
final class NowPlaying: ManagedService, PlayerExtension {
  private(set) var title = "-"
  nonisolated init(in center: ServiceCenter) {}  // on any thread
  @Message func didStart(_ title: String) { self.title = title }
}
// end

@Suite("Services on the main actor")
struct ServicesOnMain {
  @Test("a lazy observer on the main actor receives messages from any thread")
  @MainActor func lazy() async throws {
    let center = ServiceCenter()
    let extensions = try center.service(ExtensionCenter.self)
    // snippet: services-main-use
    let players = extensions.point((any PlayerExtension).self)
    players.registerLazily(NowPlaying.self, delivery: .mainActor) { $0 }
    await Task.detached { _ = players.broadcast(.didStart, "Intermezzo") }.value
    try await players.observers.drain()  // waits for queued messages
    let title = try center.service(NowPlaying.self).title  // "Intermezzo"
    // end
    expect(title, equals: "Intermezzo")
  }
}
