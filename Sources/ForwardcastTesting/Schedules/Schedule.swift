// Schedule.swift: the contexts and the clock of a program that runs in every order.

import Dispatch
import Forwardcast

/// The contexts and the time of a program that
/// ``everySchedule(_:upTo:reporter:progress:fileID:filePath:line:column:_:)`` runs in every order.
///
///     await everySchedule { schedule in
///       let room = MulticastProxy<any RoomDelegate>()
///       room.add(log, delivery: schedule.queue("log"))
///       room.add(index, delivery: schedule.actor("index"))
///       room.broadcast(.textReceived, "hi")
///       try await room.drain()
///       #expect(log.texts == index.texts)
///     }
///
/// A turn is the delivery of one message on a queue or an actor, or the part of a task up to its
/// next suspension. A turn can be interrupted where it sends a message to a queue or an actor,
/// where it uses a ``Shared`` value, and at ``step()``.
public struct Schedule: Sendable {
  let world: ScheduleWorld

  @TaskLocal static var current: Schedule?
  /// When no turn can continue, the first value limits the wait for threads outside the schedule.
  /// The second value is the clock for the time limit of turns. Tests of this module change both.
  @TaskLocal package static var patience: (outside: DispatchTimeInterval, turns: any Clock<Duration>) = (
    .milliseconds(500), ContinuousClock()
  )

  /// The clock of the schedule, which also measures the timeouts of blocking sends. An advance to
  /// the next deadline is a turn, so the search tries each deadline before and after other turns.
  public var clock: TestClock { world.clock }

  /// Delivery on the serial queue with this name.
  public func queue(_ name: String) -> Delivery { .on(world.context("queue \(name)")) }

  /// Delivery on the serial queue with this name. Each delivery is made within a call of `body`,
  /// for example on a real queue.
  public func queue(_ name: String, within body: @escaping @Sendable (() -> Void) -> Void) -> Delivery {
    let context = world.context("queue \(name)")
    context.within = body
    return .on(context)
  }

  /// Delivery on the actor with this name.
  public func actor(_ name: String) -> Delivery { .on(world.context("actor \(name)")) }

  /// Stands for the main actor. Main-actor methods run there, but on no particular thread.
  public var mainActor: Delivery { .on(world.context("main actor", isMain: true)) }

  /// Lets other turns run. Call it between two operations if no message is sent between them.
  public func step() { world.step() }

  /// A value that turns share. Other turns may run before each use of the value.
  public func shared<Value: Sendable>(_ value: Value) -> Shared<Value> { Shared(value, in: world) }

  /// Expects a condition in every order, with any test library. A failure says `text`, at the line
  /// of this call. Returns true if the condition holds.
  @discardableResult
  public func expect(
    _ condition: Bool, _ text: @autoclosure () -> String = "an expectation does not hold", fileID: String = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    if !condition {
      world.fail(text(), at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return condition
  }
}

/// A value that turns share: see ``Schedule/shared(_:)``.
public final class Shared<Value: Sendable>: Sendable {
  private let state: Guarded<Value>
  private let world: ScheduleWorld

  init(_ value: Value, in world: ScheduleWorld) {
    state = Guarded(value)
    self.world = world
  }

  /// The current value. Reading and writing are separate steps, so other turns may run in the
  /// middle of `value += 1`. A change by ``withLock(_:)`` is one step.
  public var value: Value {
    get { withLock { $0 } }
    set { withLock { $0 = newValue } }
  }

  /// Reads or changes the value in one step.
  public func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    world.step()
    return try state.withLock { try body(&$0) }
  }
}
