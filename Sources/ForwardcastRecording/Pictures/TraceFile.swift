// TraceFile.swift: writes message events as a trace file.

import Dispatch
import Forwardcast

/// Writes message events in the Trace Event Format, for Perfetto and the tracing pages of browsers.
///
///     let file = TraceFile(fileDescriptor: descriptor)
///     let tracing = kitchen.trace(as: "kitchen") { file.add($0) }
///     kitchen.broadcast(.cook, "fish")
///     tracing.cancel()
///     file.finish()  // [{"name":"cook:","ph":"X","ts":12.5,"dur":3.25, …
///
/// A slice shows a message at a proxy, or the execution of a target's method, with its outcome.
/// Synchronous executions are nested in the sender's slice. Each queue, actor or other thread has a
/// lane. Executions that overlap on one queue or actor, for example while a method suspends, get
/// additional lanes. An arrow leads from a queued message to its execution or, if the message was
/// skipped, to a mark.
///
/// May be used from any thread. Memory holds open slices, queued messages and at most 4 MiB of
/// text. If `write` is too slow, events are omitted and counted, and no thread waits.
public final class TraceFile: Sendable {
  private struct State {
    var timeline: TraceTimeline
    var omitted = 0
    var isFinished = false
    /// The thread that is writing. A thread writes when there is enough text for one piece.
    var writer: ThreadIdentity?
    /// Callers of ``finish()`` that wait for the writer.
    var waiting: [DispatchSemaphore] = []

    mutating func next() -> (piece: String?, waiting: [DispatchSemaphore]) {
      if timeline.text.utf8.count >= (isFinished ? 1 : TraceFile.pieceSize) {
        return (exchange(&timeline.text, with: ""), [])
      }
      writer = nil
      return (nil, exchange(&waiting, with: []))
    }
  }

  private static let pieceSize = 64 << 10
  private static let limit = 4 << 20

  private let state: Guarded<State>
  private let write: @Sendable (String) -> Void

  /// Creates a file that is written by a closure. `write` receives pieces of up to about 4 MiB, in
  /// order and one at a time. It is called without a lock, on threads that add events or finish the
  /// file.
  public init(write: @escaping @Sendable (String) -> Void) {
    self.write = write
    state = Guarded(State(timeline: TraceTimeline(origin: .now)))
  }

  /// Creates a file on a descriptor, which the caller closes after ``finish()``.
  public convenience init(fileDescriptor: Int32) { self.init { StandardError.write($0, to: fileDescriptor) } }

  deinit { finish() }

  /// Adds an event that happens on the calling thread.
  public func add(_ event: MessageEvent) {
    let (place, entry) = (TracePlace.current, TraceEntry(event))
    let isWriter = state.withLock { state in
      guard !state.isFinished else { return false }
      let isFull = state.writer != nil && state.timeline.text.utf8.count >= TraceFile.limit
      if !state.timeline.take(entry, at: place, isFull: isFull) { state.omitted += 1 }
      guard state.writer == nil, state.timeline.text.utf8.count >= TraceFile.pieceSize else { return false }
      state.writer = .current
      return true
    }
    if isWriter { writeAll() }
  }

  /// Ends open slices and the file. Returns after everything is written, unless `write` itself
  /// calls this method. Later events and later calls of this method are ignored.
  public func finish() {
    let end = DispatchSemaphore(value: 0)
    let (isWriter, waits) = state.withLock { state in
      if !state.isFinished {
        state.isFinished = true
        state.timeline.end(at: .now)
      }
      if state.writer == .current { return (false, false) }
      if state.writer != nil {
        state.waiting.append(end)
        return (false, true)
      }
      state.writer = .current
      return (true, false)
    }
    if isWriter { writeAll() }
    if waits { end.wait() }
  }

  private func writeAll() {
    while true {
      let (piece, waiting) = state.withLock { $0.next() }
      guard let piece else {
        for end in waiting { end.signal() }
        return
      }
      write(piece)
    }
  }

  /// The number of events that were omitted because `write` was too slow.
  public var omitted: Int { state.withLock { $0.omitted } }

  var openSlices: Int { state.withLock { $0.timeline.openSlices } }
}
