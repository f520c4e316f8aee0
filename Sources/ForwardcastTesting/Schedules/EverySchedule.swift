// EverySchedule.swift: runs a program in every order of its turns.

import Forwardcast

#if canImport(Testing)
  import Testing
#endif

/// Runs `body` once for each order of its turns, including turns on queues and actors. A turn is
/// the delivery of a message, or the part of a task up to its next suspension: see ``Schedule``.
///
///     @Test func answersAreFresh() async {
///       await everySchedule { schedule in
///         …
///         #expect(shop.price == 20)
///       }
///     }
///
/// The search ends at the first order that fails. It reports one issue at the line of the failed
/// expectation, with the turns, a diagram, and the code that runs only that order. An order
/// fails if `body` throws, or if an expectation of the schedule, of Swift Testing or of a double
/// fails. An order also fails if no turn can continue (a deadlock), if a turn hangs for over ten
/// seconds, if a target is on a queue or an actor outside the schedule, or if the clock advances
/// 1,000 times without a turn of `body`, as with a repeating timer. XCTest's own assertions fail
/// the test, but not the order.
///
/// Apart from the order of turns, `body` must do the same in each run. It must create the objects
/// that it uses, and use neither random numbers nor real time. `limit` is the maximum number of
/// orders. `progress` is called after every 1,000 orders; the default writes to standard error.
/// - Returns: the number of orders, and the failure if there is one. If the task is canceled, the
///   search ends after the current order.
/// - Complexity: each order runs `body` from its start, on threads of the schedule.
@discardableResult
nonisolated(nonsending) public func everySchedule(
  _ search: ScheduleSearch = .every, upTo limit: Int = 10_000, reporter: TestReporter = .automatic,
  progress: (@Sendable (ScheduleSummary) -> Void)? = nil,
  fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  _ body: @escaping @Sendable (Schedule) async throws -> Void
) async -> ScheduleSummary {
  let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
  if case .replay(let text) = search.kind, OrderCode.lanes(text) == nil {
    reporter.report(
      TestFailure(place: place, text: "\"\(text)\" is not an order of turns; copy the one that a failure prints"))
    return ScheduleSummary()
  }
  let walk = ScheduleWalk(ScheduleExplorer(search, limit: limit), place, body)
  let progress =
    progress ?? { StandardError.write("everySchedule at \(place): \($0.orders) orders of at most \(limit)\n") }
  let clock = Schedule.patience.turns
  let watch = Task.detached { await walk.watch(clock) }
  defer { watch.cancel() }
  while true {
    let failure = await walk.runOnce()
    if let failure { reporter.report(TestFailure(place: failure.place, text: failure.description)) }
    let isOver = !walk.end() || failure != nil || Task.isCancelled
    var summary = walk.explorer.summary
    summary.failure = failure
    if isOver { return summary }
    if summary.orders.isMultiple(of: 1000) { progress(summary) }
  }
}

private final class ScheduleWalk: Sendable {
  nonisolated(unsafe) let explorer: ScheduleExplorer  // used by this function and, during a run, by the turn in control
  private let under = Guarded<ScheduleWorld?>(nil)
  private let place: SourcePlace
  private let body: @Sendable (Schedule) async throws -> Void

  init(
    _ explorer: ScheduleExplorer, _ place: SourcePlace, _ body: @escaping @Sendable (Schedule) async throws -> Void
  ) {
    (self.explorer, self.place, self.body) = (explorer, place, body)
  }

  nonisolated(nonsending) func runOnce() async -> ScheduleFailure? {
    let world = ScheduleWorld(explorer, at: place)
    let issues = Guarded<[TestFailure]>([])
    #if canImport(Testing)
      if Test.current == nil {
        await run(world)
      } else {
        await withKnownIssue(isIntermittent: true) {
          await run(world)
        } matching: { issue in
          let place = issue.sourceLocation.map { found in
            SourcePlace(
              self.place, fileID: found.fileID, filePath: found.filePath, line: found.line, column: found.column)
          }
          issues.withLock { $0.append(TestFailure(place: place ?? self.place, text: "\(issue)")) }
          return true
        }
      }
    #else
      await run(world)
    #endif
    let found = issues.withLock { $0 }
    guard let first = world.problem.withLock({ $0 }) ?? found.first ?? world.thrown else { return nil }
    return ScheduleFailure(
      reason: first.text, place: first.place, turns: world.notes.turns, diagram: world.notes.diagram,
      order: world.fits ? OrderCode.text(world.order) : "")
  }

  func end() -> Bool {
    // An abandoned turn might still use the explorer.
    under.withLock { $0?.isGivenUp == true } ? false : explorer.end()
  }

  nonisolated(nonsending) private func run(_ world: ScheduleWorld) async {
    under.withLock { $0 = world }
    await withCheckedContinuation { continuation in
      let schedule = Schedule(world: world)
      Schedule.$current.withValue(schedule) {
        world.start { [body, place] in
          do { try await body(schedule) } catch {
            world.thrown = TestFailure(place: place, text: "the body throws \(error)")
          }
        } end: {
          continuation.resume()
        }
      }
    }
  }

  /// Abandons turns that do not end in ten seconds.
  func watch(_ clock: any Clock<Duration>) async {
    var seen: (world: ScheduleWorld?, steps: Int) = (nil, 0)
    while true {
      do { try await clock.sleep(for: .seconds(10)) } catch { return }
      let world = under.withLock { $0 }
      let steps = world?.progress.withLock { $0 } ?? 0
      if let world, world === seen.world, steps == seen.steps {
        world.giveUp(
          "a turn has not ended in 10 seconds: it runs endlessly, or blocks on something outside the schedule, such as "
            + "a lock held while a message is sent; wait for messages and schedule.clock only")
      }
      seen = (world, steps)
    }
  }
}
