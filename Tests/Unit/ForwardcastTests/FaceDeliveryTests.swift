// FaceDeliveryTests.swift: the public API of Sendable proxies, compiled and run.

import Dispatch
import Forwardcast
import TestSupport
import Testing

private protocol FaceRoomDelegate: AnyObject, Sendable {
  func room(_ room: Int, didReceive text: String)
}

extension Message<(Int, String) -> Void> { fileprivate static var received: Self { .init("room:didReceive:") } }

extension MulticastProxy: FaceRoomDelegate where Interface == any FaceRoomDelegate {
  fileprivate func room(_ room: Int, didReceive text: String) { broadcast(.received, room, text) }
}

@MainActor
private final class FaceWindow: FaceRoomDelegate, MessageReceiver {
  var title = ""
  nonisolated func room(_ room: Int, didReceive text: String) {}
  nonisolated static let selectorTable = SelectorTable(for: FaceWindow.self) {
    Responds(to: .received, onMainActor: { window, room, text in window.title = "\(room) \(text)" })
    Responds(to: .unread, onMainActor: { _ in 2 })
  }
}

private actor FaceArchive: FaceRoomDelegate, MessageReceiver {
  var lines: [String] = []
  nonisolated func room(_ room: Int, didReceive text: String) {}
  static let selectorTable = SelectorTable(for: FaceArchive.self) {
    Responds(to: .received, isolated: { (archive: isolated FaceArchive, _, text) in archive.lines.append(text) })
    Responds(to: .unread, async: { archive in await archive.lines.count })
  }
}

@Suite("Sendable proxies")
struct FaceDeliveryTests {
  @Test("targets on a queue, on the main actor and on their own actor answer one typed call")
  @MainActor
  func sharedFace() async throws {
    let (window, archive) = (FaceWindow(), FaceArchive())
    let members = MulticastProxy<any FaceRoomDelegate>()
    members.add(archive, delivery: .queue(DispatchQueue(label: "disk")))
    members.add(window, delivery: .mainActor)
    members.room(7, didReceive: "hello")
    let seen = try await members.collectAndWait(.unread, returning: .sum)
    expect(seen, equals: 3)
    expect(window.title, equals: "7 hello")
    await expect(archive.lines, equals: ["hello"])
  }
}
