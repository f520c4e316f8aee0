// TypedCallTests.swift: records typed calls, and registers typed calls for undo.

@testable import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Foundation
import TestSupport
import Testing

@Forwarded
private protocol Shape: AnyObject {
  func move(_ x: Int, to y: Double)
  func rename(_ name: String) throws -> Int
  @Answer(.last, otherwise: -1) func weight() -> Int
}

@Forwarded
private protocol Fetcher: AnyObject, Sendable {
  func fetch(_ path: String) async throws -> Int
}

private final class Circle: Shape {
  var place: [Double] = [0, 0]
  private(set) var name = "circle"
  func move(_ x: Int, to y: Double) { place = [Double(x), y] }
  func rename(_ name: String) throws -> Int {
    if name.isEmpty { throw Spilled(description: "no name") }
    self.name = name
    return name.count
  }
  func weight() -> Int { 7 }
}

/// Its method is on the main actor, so callers elsewhere must wait.
@MainActor
private final class Page: Fetcher {
  func fetch(_ path: String) async throws -> Int { path.count }
}

@Forwarded
private protocol Switchable: AnyObject, Sendable {
  func turn(on isOn: Bool)
}

private final class Lamp: Switchable {
  let isOn = Locked(false)
  func turn(on isOn: Bool) { self.isOn.withLock { $0 = isOn } }
}

@Suite("Typed calls")
struct TypedCallTests {
  @Test("calls on a generated proxy are recorded for each target, with answers and errors")
  func recorded() throws {
    let recorder = CallRecorder()
    let (one, two) = (Circle(), Circle())
    let shapes = ShapeProxy()
    shapes.add(one, recordedBy: recorder, as: "one")
    let registration = shapes.add(two, recordedBy: recorder)
    shapes.move(1, to: 2)
    try expect(shapes.rename("disc"), equals: 4)
    #expect(throws: Spilled.self) { try shapes.rename("") }
    registration.cancel()
    expect(shapes.weight(), equals: 7)
    expect(one.place == [1, 2] && two.name == "disc")
    expect(
      recorder.recording.description,
      equals: """
        [one move: 1 to: 2.0]
        [Circle move: 1 to: 2.0]
        [one rename: "disc"] answers 4
        [Circle rename: "disc"] answers 4
        [one rename: ""] fails: no name
        [Circle rename: ""] fails: no name
        [one weight] answers 7
        """)
  }

  @Test("a recorded weak target is released, and nothing is recorded then")
  func weakTargets() {
    let recorder = CallRecorder()
    let shapes = ShapeProxy()
    do { shapes.add(Circle(), recordedBy: recorder) }
    expect(shapes.weight(), equals: -1)
    shapes.add(Circle(), recordedBy: recorder, ownership: .strong)
    expect(shapes.weight(), equals: 7)
    expect(recorder.calls.count, equals: 1)
  }

  @Test(
    "a recorded object is listed, counted, muted and removed like any other target",
    arguments: [Ownership.weak, .strong])
  func foundByObject(ownership: Ownership) {
    let (recorder, shapes, circle, other) = (CallRecorder(), ShapeProxy(), Circle(), Circle())
    shapes.add(circle, recordedBy: recorder, ownership: ownership)
    expect(shapes.targets.map { ObjectIdentifier($0) }, equals: [ObjectIdentifier(circle)])
    expect(shapes.count(of: Circle.self), equals: 1)
    shapes.mute(circle)
    shapes.move(1, to: 1)
    shapes.unmute(circle)
    expect(shapes.replace(circle, with: other), equals: 0)
    shapes.move(2, to: 2)
    expect(circle.place == [2, 2] && recorder.calls.count == 1)
    // A registration without a recording is another one, also if its object is the same.
    shapes.add(circle)
    shapes.add(circle)
    shapes.add(circle, recordedBy: recorder)
    shapes.move(3, to: 3)
    expect(shapes.count == 3 && recorder.calls.count == 3)
    expect(shapes.remove(circle) == 3 && shapes.count == 0 && shapes.remove(circle) == 0)
    let registration = shapes.add(circle, recordedBy: recorder, ownership: ownership)
    expect(shapes.removeAll(of: Circle.self) == 1 && registration.isCancelled)
    shapes.move(4, to: 4)
    expect(circle.place == [3, 3] && recorder.calls.count == 3)
  }

  @Test("explanations and errors name a recorded target as the recording does")
  func namedTargets() {
    let (recorder, shapes, circle) = (CallRecorder(), ShapeProxy(), Circle())
    let one = shapes.add(circle, recordedBy: recorder, as: "one")
    expect(one.description, equals: "registration of one")
    expect(shapes.multicast.explain("weight").entries.map(\.target), equals: ["one"])
  }

  @Test("a dead recorded target is neither counted nor listed, and its slot is reclaimed")
  func deadTargets() {
    let (recorder, shapes) = (CallRecorder(), ShapeProxy())
    let circle = Circle()
    shapes.add(circle, recordedBy: recorder)
    let dead = (0..<50).map { _ in shapes.add(Circle(), recordedBy: recorder) }
    expect(shapes.count == 1 && shapes.registrations.count == 1)
    expect(dead.allSatisfy { !$0.isLive && $0.target == nil })
    shapes.move(1, to: 1)
    expect(shapes.multicast.core.slotCount < 16)
    expect(circle.place == [1, 1] && recorder.calls.count == 1)
  }

  @Test("an awaited call to a recorded target in another isolation is answered")
  func waiting() async throws {
    let recorder = CallRecorder()
    let fetchers = FetcherProxy()
    let page = Page()
    fetchers.add(page, recordedBy: recorder, as: "page")
    try await expect(fetchers.fetch("abc"), equals: 3)
    expect(recorder.recording.description, equals: "[page fetch: \"abc\"] answers 3")
    withExtendedLifetime(page) {}
  }

  @Test("a script replays typed calls")
  func replayed() throws {
    func record(_ body: (any Shape) throws -> Void) throws -> String {
      let recorder = CallRecorder()
      let (shapes, circle) = (ShapeProxy(), Circle())
      shapes.add(circle, recordedBy: recorder, as: "shape")
      try body(shapes)
      return try recorder.recording.script()
    }
    let script = try record { shape in
      shape.move(3, to: 0.5)
      _ = try shape.rename("a \"b\"")
      _ = shape.weight()
    }
    let again = try record { shape in
      let session = ScriptSession()
      session.register(try #require(shape as? ShapeProxy), as: "shape")
      expect(session.run(script).succeeded)
    }
    expect(again, equals: script)
  }

  @Test("a call on a stand-in of the protocol is undone on the target, which needs no table")
  func undone() throws {
    let history = UndoHistory()
    let circle = Circle()
    history.prepare(circle, as: ShapeProxy()).move(1, to: 2)
    expect(history.prepare(circle, as: ShapeProxy()).weight(), equals: -1)
    #expect(throws: MessageError.self) { try history.prepare(circle, as: ShapeProxy()).rename("x") }
    expect(circle.place == [0, 0] && history.undoCount == 3)
    try history.undo()
    expect(circle.name, equals: "x")
    try history.undo()
    try history.undo()
    expect(circle.place == [1, 2] && !history.canUndo)
    // A stand-in accepts any number of calls, and undo throws the errors of its steps, which stay.
    let stand = history.prepare(circle, as: ShapeProxy())
    _ = try? stand.rename("")
    stand.move(5, to: 5)
    try history.undo()
    for _ in 0..<2 { #expect(throws: Spilled.self) { try history.undo() } }
    expect(circle.place == [5, 5] && history.undoCount == 1)
  }

  @Test("a Sendable stand-in refuses calls from other isolations than its history's")
  func sharedStandIns() async throws {
    let (history, lamp) = (UndoHistory(), Lamp())
    let stand = history.prepare(lamp, as: SwitchableProxy())
    let errors = Locked<[String]>([])
    stand.onError = { failure in errors.withLock { $0.append("\(failure.error)") } }
    stand.turn(on: true)
    expect(history.undoCount, equals: 1)
    await Task.detached { stand.turn(on: false) }.value
    await withCheckedContinuation { continuation in
      Thread {
        stand.turn(on: false)
        continuation.resume()
      }.start()
    }
    expect(history.undoCount, equals: 1)
    expect(errors.withLock { $0 }.count, equals: 2)
    expect(errors.withLock { $0 }.allSatisfy { $0.contains("isolation") }, "\(errors.withLock { $0 })")
    stand.turn(on: false)
    expect(history.undoCount, equals: 2)
    try history.undo()
    expect(!lamp.isOn.withLock { $0 })
  }

  @Test("a stand-in with a stated actor accepts calls on that actor only")
  func standInsOfANamedActor() async throws {
    let (history, circle) = (UndoHistory(), Circle())
    let errors = Locked<[String]>([])
    let stand = history.prepare(circle, as: ShapeProxy(), isolation: MainActor.shared)
    stand.onError = { failure in errors.withLock { $0.append("\(failure.error)") } }
    stand.move(1, to: 1)
    expect(!history.canUndo && errors.withLock { $0.count } == 1)
    expect(errors.withLock { $0 }.allSatisfy { $0.contains("accepts calls only on the actor") })
    await MainActor.run {
      let history = UndoHistory()
      history.prepare(Circle(), as: ShapeProxy(), isolation: MainActor.shared).move(1, to: 1)
      let circle = Circle()
      history.prepare(circle, as: ShapeProxy(), isolation: MainActor.shared).move(1, to: 1)
      expect(history.undoCount, equals: 1)
    }
  }

  @Test("a stand-in that was prepared on an actor accepts calls in every task of the actor")
  @MainActor func sharedStandInsOfAnActor() async throws {
    let (history, lamp) = (UndoHistory(), Lamp())
    let stand = history.prepare(lamp, as: SwitchableProxy())
    await Task { @MainActor in stand.turn(on: true) }.value
    expect(history.undoCount, equals: 1)
  }

  @Test("a stand-in does not retain its target, and neither does a step")
  func standInsAreWeak() {
    let history = UndoHistory()
    var circle: Circle? = Circle()
    weak let weakCircle = circle
    weak var weakStand: ShapeProxy?
    do {
      let stand = circle.map { history.prepare($0, as: ShapeProxy()) }
      weakStand = stand
      stand?.move(1, to: 1)
      expect(history.canUndo)
      circle = nil
      expect(weakCircle == nil && !history.canUndo)
      stand?.move(1, to: 1)
      expect(!history.canUndo)
    }
    expect(weakStand == nil)
  }
}
