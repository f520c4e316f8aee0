// Drawing.swift: shapes, each change of which says how it is taken back.
// Example: Undo.

import Forwardcast
import ForwardcastRecording

extension Message<(String, Int, Int) -> Void> { static var place: Self { .init("place:x:y:") } }

/// The attribute writes the table, by which the history sends what it has kept.
@Receiver
final class Drawing: CustomStringConvertible {
  private struct Place {
    var x: Int
    var y: Int
  }

  private var shapes: [String: Place] = [:]
  private let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  /// Puts a new shape somewhere, or moves one. What takes it back is a message, kept before anything changes.
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

  /// Many changes that are one for who undoes them.
  func align(y: Int) throws {
    try history.group("Align") {
      for (shape, place) in shapes.sorted(by: { $0.key < $1.key }) { try self.place(shape, x: place.x, y: y) }
    }
  }

  /// Undone, an action keeps its name: drawing a circle is not redone as erasing one.
  private func name(_ action: String) {
    if !history.isUndoing, !history.isRedoing { history.setActionName(action) }
  }

  var description: String {
    shapes.sorted { $0.key < $1.key }.map { "\($0.key) at \($0.value.x),\($0.value.y)" }.joined(separator: "  ")
  }
}
