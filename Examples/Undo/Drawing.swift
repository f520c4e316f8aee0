// Drawing.swift: shapes that register the reverse of each change.
// Example: Undo.

import Forwardcast
import ForwardcastRecording

extension Message<(String, Int, Int) -> Void> { static var place: Self { .init("place:x:y:") } }

/// The attribute generates the table that the history uses to send registered messages.
@Receiver
final class Drawing: CustomStringConvertible {
  private struct Place {
    var x: Int
    var y: Int
  }

  private var shapes: [String: Place] = [:]
  private let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  /// Adds or moves a shape, after registering the message that reverses the change.
  @Message("place:x:y:") func place(_ shape: String, x: Int, y: Int) throws {
    if let old = shapes[shape] {
      try history.prepare(self).send(.place, shape, old.x, old.y)
      name("Move \(shape)")
    } else {
      try history.prepare(self).dynamic.erase(shape)
      name("Draw \(shape)")
    }
    shapes[shape] = Place(x: x, y: y)
  }

  @Message func erase(_ shape: String) throws {
    guard let old = shapes.removeValue(forKey: shape) else { return }
    try history.prepare(self).send(.place, shape, old.x, old.y)
    name("Erase \(shape)")
  }

  /// Makes many changes that are undone together.
  func align(y: Int) throws {
    try history.group("Align") {
      for (shape, place) in shapes.sorted(by: { $0.key < $1.key }) { try self.place(shape, x: place.x, y: y) }
    }
  }

  /// Names an action, but not during an undo. Otherwise the redo of "Draw" would be called "Erase".
  private func name(_ action: String) {
    if !history.isUndoing, !history.isRedoing { history.setActionName(action) }
  }

  var description: String {
    shapes.sorted { $0.key < $1.key }.map { "\($0.key) at \($0.value.x),\($0.value.y)" }.joined(separator: "  ")
  }
}
