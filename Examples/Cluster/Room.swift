// Room.swift: what is said in the room, and who hears it.
// Example: Cluster.

import Forwardcast
import ForwardcastCoding
import Synchronization

/// One line of talk, as it crosses.
struct Line: Codable, Sendable {
  let number: Int
  let author: String
  let text: String
}

/// What a member has heard, told in the end.
struct Tally: Codable, Sendable {
  let name: String
  let heard: Int
  /// Lines that came twice, or after a later one.
  let misplaced: Int
}

/// Whoever is in the room, in this process or in another.
@Forwarded
protocol RoomMember: AnyObject, Sendable {
  func heard(_ line: Line) throws -> Int
  func tally() throws -> Tally
}

/// The types that cross. Nothing else is made of what arrives.
let roomTypes = InvocationTypes(["Line": Line.self, "Tally": Tally.self])

/// A member that counts what it hears, and dies at one line where that is wished.
final class Listener: RoomMember {
  private let name: String
  private let crashAt: Int
  private let state = Mutex((last: 0, heard: 0, misplaced: 0))

  init(_ name: String, crashAt: Int = 0) { (self.name, self.crashAt) = (name, crashAt) }

  func heard(_ line: Line) -> Int {
    if line.number == crashAt { die() }
    return state.withLock { state in
      if line.number <= state.last { state.misplaced += 1 }
      state.last = max(state.last, line.number)
      state.heard += 1
      return state.heard
    }
  }

  func tally() -> Tally { state.withLock { Tally(name: name, heard: $0.heard, misplaced: $0.misplaced) } }
}
