// Room.swift: the room's protocol, types and a member. Nothing here depends on the engine.
// Example: Cluster.

import Forwardcast
import ForwardcastCoding
import Synchronization

/// One line of the chat.
struct Line: Codable, Sendable {
  let number: Int
  let author: String
  let text: String
}

/// What a member has heard.
struct Tally: Codable, Sendable {
  let name: String
  let heard: Int
  /// Lines that arrived twice, or after a later one.
  let misplaced: Int
}

/// A member of the room, in this process or another.
@Forwarded
protocol RoomMember: AnyObject, Sendable {
  func heard(_ line: Line) throws -> Int
  func tally() throws -> Tally
}

/// The types that may arrive from other processes.
let roomTypes = KnownTypes(["Line": Line.self, "Tally": Tally.self])

/// A member that counts what it hears.
final class Listener: RoomMember {
  private let name: String
  private let state = Mutex((last: 0, heard: 0, misplaced: 0))

  init(_ name: String) { self.name = name }

  func heard(_ line: Line) -> Int {
    state.withLock { state in
      if line.number <= state.last { state.misplaced += 1 }
      state.last = max(state.last, line.number)
      state.heard += 1
      return state.heard
    }
  }

  func tally() -> Tally { state.withLock { Tally(name: name, heard: $0.heard, misplaced: $0.misplaced) } }
}
