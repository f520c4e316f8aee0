// Turn.swift: a turn that has begun.

import Dispatch
import Forwardcast

/// A turn that has begun, on the thread that runs it.
final class Turn: @unchecked Sendable {  // touched by whoever may go on
  let lane: ScheduleLane
  let world: ScheduleWorld
  /// Whether it can go on.
  var isReady: () -> Bool = { true }
  /// When what it waits for ends by itself.
  var deadline: TestClock.Instant?
  private let signal = DispatchSemaphore(value: 0)

  init(_ lane: ScheduleLane, _ world: ScheduleWorld) { (self.lane, self.world) = (lane, world) }

  private static let slot = ThreadSlot()

  /// The turn that the running thread has.
  static var running: Turn? { slot.pointer.map { Unmanaged<Turn>.fromOpaque($0).takeUnretainedValue() } }

  /// Runs `body` as this turn.
  func run(_ body: () -> Void) {
    Turn.slot.pointer = Unmanaged.passUnretained(self).toOpaque()
    ThreadController.current = world.controller
    body()
    ThreadController.current = nil
    Turn.slot.pointer = nil
  }

  /// Blocks the thread until it is to go on.
  func pause() { signal.wait() }
  func goOn() { signal.signal() }
}
