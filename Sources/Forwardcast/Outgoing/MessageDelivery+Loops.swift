// MessageDelivery+Loops.swift: the input and the reports of loops over consecutive steps.

extension MessageDelivery {
  @usableFromInline
  var loopSteps: (first: UnsafeMutablePointer<RouteStep>, count: Int) {
    // Copying the visit would retain each of its references.
    let (last, first) = (visits.count - 1, visits[visits.count - 1].progress.index)
    return (visits[last].node.route.steps + first, loopEnd - first)
  }

  /// Records that a loop has served the steps up to `end`. Steps that the loop did not report ran
  /// successfully.
  @usableFromInline @inline(never)
  func endLoop(_ end: UnsafeMutablePointer<RouteStep>) {
    let last = visits.count - 1
    let first = loopSteps.first
    assert(end > first && end - first <= loopSteps.count, "a loop ends within its steps")
    let ran = end - first - exchange(&reportedInLoop, with: 0)
    visits[last].progress.advance(to: end - visits[last].node.route.steps)
    if ran > 0 { visits[last].progress.note(.reached) }
    let areKept = outcomes.endLoop(at: StepContext(selector: selector, proxies: node.path))
    if ran > 0, !areKept { outcomes.countServed(ran) }
  }

  @usableFromInline @inline(never)
  func noteComplete() { outcomes.noteComplete() }

  @usableFromInline
  func taker<R>(of type: R.Type) -> AnswerTaker<R> {
    outcomes.taker(of: type, crosses: loopSteps.first.pointee.method?.takeUnretainedValue().resultCrosses ?? false)
  }

  /// Records that a loop skipped the step before `end`. Returns false if the loop must end.
  @usableFromInline @inline(never)
  func miss(_ end: UnsafeMutablePointer<RouteStep>) -> Bool {
    let (step, path) = ((end - 1).pointee, node.path)
    reportedInLoop += 1
    let last = visits.count - 1
    if node.route.isOver(step) {
      visits[last].progress.noteOver()
      return true
    }
    let own = step.obstacle ?? (step.target == nil ? .dead : nil)
    let onPath = path.isNested ? path.obstacle : nil
    let reason = DeliveryReport.SkipReason.first(own, onPath ?? own ?? .dead)
    take(.skipped(reason), at: reason == .dead ? context(step, nil) : skippedContext(step))
    if let onPath { visits[last].progress.stop(for: onPath) }
    return visits[last].progress.notes.stop == nil
  }

  /// Records the error of the step before `end`. Returns false if the loop must end.
  @usableFromInline @inline(never)
  func fail(_ error: any Error, _ end: UnsafeMutablePointer<RouteStep>, _ target: AnyObject? = nil) -> Bool {
    let step = (end - 1).pointee
    reportedInLoop += 1
    take(.failed(error), at: context(step, target ?? step.target))
    return goesOn
  }

  /// Records a boxed answer. Returns false if the loop must end.
  @usableFromInline @inline(never)
  func take(_ answer: ArgumentBox, of target: AnyObject, _ step: RouteStep) -> Bool {
    reportedInLoop += 1
    take(.answered(request.keepsAnswers ? answer : nil), at: context(step, target))
    return goesOn
  }

  private var goesOn: Bool { visits[visits.count - 1].progress.notes.stop == nil && !outcomes.isEnough }

  /// Serves the steps of a loop. `run` calls a method; `ask` also returns its answer in a box.
  @usableFromInline @inline(never)
  func serveOpened(_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) {
    let loop = DeliveryLoop(self, answering: nil)
    let lister = loop.answers == .plain ? outcomes.lister() : nil
    let (first, count) = loopSteps
    let end = first + count
    var next = first
    while next < end {
      let step = next.pointee
      next += 1
      guard step.isActive, !loop.isNested || loop.path.isWayOpen, let target = step.target, let method = step.method
      else {
        if miss(next) { continue } else { break }
      }
      do {
        if loop.answers == .none {
          try method._withUnsafeGuaranteedRef { try run($0, target) }
        } else if loop.answers == .plain {
          if let lister {
            lister.add(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
          } else {
            outcomes.accept(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
          }
        } else if !take(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target, step) {
          break
        }
      } catch {
        if !fail(error, next, target) { break }
      }
    }
    endLoop(next)
  }

  /// How a loop handles answers of `type`; if `type` is `nil`, how it handles boxed answers.
  fileprivate func handling(of type: Any.Type?) -> DeliveryLoop.Answers {
    if !request.asks { return .none }
    if outcomes.takesPlain, request.keepsAnswers { return .plain }
    guard let type, outcomes.takesTyped(type) else { return .boxed }
    return .typed
  }
}

/// The constants of one loop over consecutive steps.
@usableFromInline
struct DeliveryLoop {
  @usableFromInline let answers: Answers
  /// The proxy and its enclosing proxies, retained by the delivery.
  @usableFromInline let path: Unmanaged<ProxyChain>
  @usableFromInline let isNested: Bool

  @usableFromInline
  enum Answers {
    case none
    /// The sink consumes unboxed answers.
    case typed
    /// The sink consumes boxed answers, and needs only the target of each.
    case plain
    /// The delivery records boxed answers, each with its `StepContext`.
    case boxed
  }

  @usableFromInline
  init(_ delivery: MessageDelivery, answering type: Any.Type?) {
    answers = delivery.handling(of: type)
    // Not retained: the delivery retains its proxies.
    let path = delivery.visits[delivery.visits.count - 1].node.path
    (self.path, isNested) = (.passUnretained(path), path.isNested)
  }
}

extension Unmanaged<ProxyChain> {
  /// True if no registration on the path blocks messages.
  @usableFromInline var isWayOpen: Bool { _withUnsafeGuaranteedRef { $0.isOpen || $0.obstacle == nil } }
}
