// main.swift: a drawing with undo and redo.
// Example: Undo. Run it with `swift run undo`.

import Forwardcast
import ForwardcastRecording

let history = UndoHistory()
let drawing = Drawing(history)

/// Prints the drawing and its undo and redo menu items.
@MainActor
func show() { print("\(drawing)   [\(history.undoMenuItemTitle) | \(history.redoMenuItemTitle)]") }

try drawing.place("circle", x: 1, y: 1)
try drawing.place("square", x: 5, y: 2)
try drawing.place("circle", x: 3, y: 4)
show()

try history.undo()
show()
try history.undo()
show()
try history.redo()
show()

// The messages of a group are undone together. A new step empties the redo stack.
try drawing.align(y: 9)
show()
try history.undo()
show()

// A step is a message: an erased shape is placed again where it was.
try drawing.erase("square")
show()
try history.undo()
show()

// A history holds targets weakly: the steps of the note end with it.
do {
  let note = Drawing(history)
  try note.place("arrow", x: 0, y: 0)
  print("with a note: \(history.undoCount) steps, \(history.undoMenuItemTitle)")
}
print("without it: \(history.undoCount) steps, \(history.undoMenuItemTitle)")

// Prints:
// circle at 3,4  square at 5,2   [Undo Move circle | Redo]
// circle at 1,1  square at 5,2   [Undo Draw square | Redo Move circle]
// circle at 1,1   [Undo Draw circle | Redo Draw square]
// circle at 1,1  square at 5,2   [Undo Draw square | Redo Move circle]
// circle at 1,9  square at 5,9   [Undo Align | Redo]
// circle at 1,1  square at 5,2   [Undo Draw square | Redo Align]
// circle at 1,1   [Undo Erase square | Redo]
// circle at 1,1  square at 5,2   [Undo Draw square | Redo Erase square]
// with a note: 3 steps, Undo Draw arrow
// without it: 2 steps, Undo Draw square
