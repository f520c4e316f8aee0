// Schedule.swift: what a program is given that runs in every order.

import Dispatch
import Forwardcast

/// The contexts and the time of a program that ``everySchedule(_:upTo:sharing:reporter:progress:fileID:filePath:line:column:_:)``
/// runs in every order.
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
/// A turn is the delivery of one message on a context, or what a task does until it suspends. Turns are interrupted where
/// something is sent to a context, where a ``Shared`` value is used, and at ``step()``.
public struct Schedule: Sendable {
  let world: ScheduleWorld

  @TaskLocal static var current: Schedule?
  /// How long to wait for what comes from outside of the schedule, where no turn can go on; and the clock by which turns that do
  /// not end are given up. Tests of this module change them.
  @TaskLocal package static var patience: (outside: DispatchTimeInterval, turns: any Clock<Duration>) = (
    .milliseconds(500), ContinuousClock()
  )

  /// The clock of this world. When somebody sleeps on it, moving it to the first deadline is a turn like any other: so a
  /// deadline comes before and after everything that does not have to be before it.
  ///
  /// Blocking sends with a timeout take their time from it too.
  public var clock: TestClock { world.clock }

  /// Deliveries on a serial queue, the same one for the same name.
  public func queue(_ name: String) -> Delivery { .on(world.context("queue \(name)", isQueue: true)) }

  /// The same, where each delivery runs within `body`, on a real queue for example.
  package func queue(_ name: String, within body: @escaping @Sendable (() -> Void) -> Void) -> Delivery {
    let context = world.context("queue \(name)", isQueue: true)
    context.within = body
    return .on(context)
  }

  /// Deliveries on an actor, the same one for the same name.
  public func actor(_ name: String) -> Delivery { .on(world.context("actor \(name)", isQueue: false)) }

  /// Deliveries that stand for those on the main actor: rows of the main actor run in them. They are on no particular thread.
  public var mainActor: Delivery { .on(world.context("main actor", isQueue: false, isMain: true)) }

  /// A point at which other turns may come first, for code that sends nothing between two things that matter.
  public func step() { world.step() }

  /// A value that turns share: using it is a point at which others may come first, and turns that use the same one are not
  /// taken to be independent.
  public func shared<Value: Sendable>(_ value: Value) -> Shared<Value> { Shared(value, in: world) }

  /// Expects a condition to hold in every order, in any test library. A failure says `text`, at the line of this call.
  ///
  /// - Returns: whether it holds.
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

/// A value that turns of a schedule share: see ``Schedule/shared(_:)``.
public final class Shared<Value: Sendable>: Sendable {
  private let state: Guarded<Value>
  private let world: ScheduleWorld
  private let number: Int?

  init(_ value: Value, in world: ScheduleWorld) {
    state = Guarded(value)
    (self.world, number) = (world, world.newObject())
  }

  /// The value now. To read it is a step of its own: another task may run before.
  public var value: Value { withLock { $0 } }

  /// Reads or changes the value, as one thing that others come before or after.
  public func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    world.step()
    if let number { world.explorer.use(number) }
    return try state.withLock { try body(&$0) }
  }
}
