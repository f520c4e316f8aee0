// Observers.swift: protocols, observers and lazy services for the tests of extension points.

import CoreTestSupport
import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport

protocol MessageExtension: MessageReceiver, Sendable {
  func onAddMsg(_ chat: String)
}
protocol RoomExtension: MessageReceiver, Sendable {
  func onEnter(_ room: Int)
}

extension Message<(String) -> Void> {
  static var onAdd: Self { .init("onAddMsg:") }
  static var onDelete: Self { .init("onDeleteMsg:") }
}
extension Message<(Int) -> Void> { static var onEnter: Self { .init("onEnter:") } }
extension Message<() -> Int> { static var unseen: Self { .init("unseen") } }

/// An observer with two of the three messages of its protocol.
final class ChatWindow: MessageExtension, RoomExtension {
  let name: String
  let journal: Journal
  let whenAdded = Locked<(@Sendable (ChatWindow) throws -> Void)?>(nil)
  init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }

  func onAddMsg(_ chat: String) { journal.write("\(name) add \(chat)") }
  func onEnter(_ room: Int) { journal.write("\(name) enter \(room)") }

  static let selectorTable = SelectorTable(for: ChatWindow.self) {
    Responds(to: .onAdd) { window, chat in
      window.onAddMsg(chat)
      try window.whenAdded.withLock({ $0 })?(window)
    }
    Responds(to: .onEnter) { window, room in window.onEnter(room) }
    Responds(to: .unseen) { _ in 2 }
  }
}

/// An observer with one message only.
final class Trash: MessageExtension {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func onAddMsg(_ chat: String) { journal.write("trash add \(chat)") }
  static let selectorTable = SelectorTable(for: Trash.self) {
    Responds(to: .onDelete) { trash, chat in trash.journal.write("trash delete \(chat)") }
  }
}

/// A service that becomes an observer on demand.
final class ArchiveService: ManagedService, MessageExtension, RoomExtension {
  let journal: Journal
  init(in center: ServiceCenter) throws {
    journal = try center.service(.journal)
    journal.write("archive made")
  }
  func onAddMsg(_ chat: String) { journal.write("archive add \(chat)") }
  func onEnter(_ room: Int) { journal.write("archive enter \(room)") }
  static let selectorTable = SelectorTable(for: ArchiveService.self) {
    Responds(to: .onAdd) { archive, chat in archive.onAddMsg(chat) }
    Responds(to: .onEnter) { archive, room in archive.onEnter(room) }
    Responds(to: .unseen) { _ in 3 }
  }
}

/// A second one, which registers itself during its creation.
final class BadgeService: ManagedService, MessageExtension {
  let journal: Journal
  init(in center: ServiceCenter) throws {
    journal = try center.service(.journal)
    journal.write("badge made")
  }
  func serviceDidInit(in center: ServiceCenter) throws {
    let registration = try center.service(ExtensionCenter.self).register(self, for: (any MessageExtension).self)
    journal.write(registration == nil ? "badge refused" : "badge registered")
  }
  func onAddMsg(_ chat: String) { journal.write("badge add \(chat)") }
  static let selectorTable = SelectorTable(for: BadgeService.self) {
    Responds(to: .onAdd) { badge, chat in badge.onAddMsg(chat) }
  }
}

/// A service whose creation fails until its test allows it.
final class BrokenService: ManagedService, MessageExtension {
  @TaskLocal static var works = false
  let journal: Journal
  init(in center: ServiceCenter) throws {
    guard BrokenService.works else { throw TargetError(name: "broken") }
    journal = try center.service(.journal)
  }
  func onAddMsg(_ chat: String) { journal.write("mended add \(chat)") }
  static let selectorTable = SelectorTable(for: BrokenService.self) {
    Responds(to: .onAdd) { service, chat in service.onAddMsg(chat) }
  }
}

/// The selectors of `MessageExtension`.
let messageSelectors: [MessageSelector] = ["onAddMsg:", "onDeleteMsg:", "unseen"]
