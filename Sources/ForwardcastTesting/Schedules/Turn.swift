// Turn.swift: a turn that has begun, and the threads that run turns.

import Dispatch
import Forwardcast

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

final class Turn: @unchecked Sendable {  // used by the turn that has control; control passes by semaphores
  let lane: ScheduleLane
  let world: ScheduleWorld
  var isReady: () -> Bool = { true }
  /// The time at which the turn's wait times out.
  var deadline: TestClock.Instant?
  private let signal = DispatchSemaphore(value: 0)

  init(_ lane: ScheduleLane, _ world: ScheduleWorld) { (self.lane, self.world) = (lane, world) }

  private static let slot = ThreadSlot()

  static var running: Turn? { slot.pointer.map { Unmanaged<Turn>.fromOpaque($0).takeUnretainedValue() } }

  func run(_ body: () -> Void) {
    Turn.slot.pointer = Unmanaged.passUnretained(self).toOpaque()
    ThreadController.current = world.controller
    body()
    ThreadController.current = nil
    Turn.slot.pointer = nil
  }

  func pause() { signal.wait() }
  func goOn() { signal.signal() }
}

/// A reusable thread, because starting a thread costs more than running an order. Not a Dispatch
/// thread, because an interrupted turn blocks its thread, and Dispatch starts few extra threads.
final class TurnThread: @unchecked Sendable {  // the semaphore orders accesses to `work`
  private static let idle = Guarded<[TurnThread]>([])

  private let signal = DispatchSemaphore(value: 0)
  private var work: (@Sendable () -> Void)?

  static func run(_ work: @escaping @Sendable () -> Void) {
    let thread = idle.withLock { $0.popLast() } ?? TurnThread()
    thread.work = work
    thread.signal.signal()
  }

  private init() {
    // Never released, because the thread never ends.
    let kept = Unmanaged.passRetained(self).toOpaque()
    #if canImport(Darwin)
      var id: pthread_t?
      let failure = pthread_create(&id, nil, { TurnThread.run($0) }, kept)
    #else
      var id = pthread_t()
      let failure = pthread_create(&id, nil, { $0.flatMap { TurnThread.run($0) } }, kept)
    #endif
    precondition(failure == 0, "the system cannot create a thread for the schedule: error \(failure)")
  }

  private static func run(_ kept: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let thread = Unmanaged<TurnThread>.fromOpaque(kept).takeUnretainedValue()
    while true {
      thread.signal.wait()
      thread.work.take()?()
      idle.withLock { $0.append(thread) }
    }
  }
}

func systemSymbol(_ name: String) -> UnsafeMutableRawPointer? {
  #if canImport(Darwin)
    dlsym(UnsafeMutableRawPointer(bitPattern: -2), name)
  #else
    dlsym(nil, name)
  #endif
}
