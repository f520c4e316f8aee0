// TraceFile.swift: the steps of messages as a file that tracing pages open.

import Dispatch
import Forwardcast

/// Writes the steps of messages in the Trace Event Format, as they come. Perfetto and the browsers' tracing pages show who got
/// what, where, when and how long.
///
///     let file = TraceFile(fileDescriptor: descriptor)
///     let tracing = kitchen.trace(as: "kitchen") { file.add($0) }
///     kitchen.broadcast(.cook, "fish")
///     tracing.cancel()
///     file.finish()  // [{"name":"cook:","ph":"X","ts":12.5,"dur":3.25, …
///
/// A message at the proxy that it was sent to, and each target's turn, is a slice, with the message and what came of it. Slices
/// that are delivered in their sender's turn stand inside of the sender's; a context has a lane of its own, and so has a
/// thread where there is no context. Turns that overlap on one context, as on a concurrent queue or where a method suspends,
/// have a lane beside it. An arrow leads from where a message was queued to its turn.
///
/// May be filled from any thread. What is kept are the slices that have not ended, the lanes, and at most 4 MiB of text: when
/// others write faster than `write` takes it, the rest of theirs is left out and counted, and is never waited for.
public final class TraceFile: Sendable {
  private struct State {
    var timeline: TraceTimeline
    var omitted = 0
    var isFinished = false
    /// Who hands text over at present. It goes on until little is left or, at the end, nothing.
    var writer: ThreadIdentity?
    /// Those who have finished the file and wait for the writer.
    var waiting: [DispatchSemaphore] = []

    /// Takes out what is to be written next, or ends the writing.
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

  /// A file that is written by a closure.
  ///
  /// - Parameter write: gets the text piece by piece, some 64 KiB each, in order, one call at a time and under no lock, on the
  ///   threads that send.
  public init(write: @escaping @Sendable (String) -> Void) {
    self.write = write
    state = Guarded(State(timeline: TraceTimeline(origin: .now)))
  }

  /// A file that is written to a descriptor, which stays the caller's to close, after ``finish()``.
  public convenience init(fileDescriptor: Int32) { self.init { StandardError.write($0, to: fileDescriptor) } }

  deinit { finish() }

  /// Adds a step. It is taken to happen on the calling thread.
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

  /// Ends the slices that have not ended, and the file. Later steps are dropped, and so is a second call.
  ///
  /// When this returns, everything has been handed over, unless it is called by `write` itself.
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

  /// How many steps were left out of the file because `write` was slower than the messages.
  public var omitted: Int { state.withLock { $0.omitted } }

  var openSlices: Int { state.withLock { $0.timeline.openSlices } }
}
