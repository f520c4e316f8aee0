// MulticastProxy+Broadcast.swift: typed messages to every target.
// Layer: Proxy. See DESIGN.md, "Two doors".

extension MulticastProxy {
  /// Sends a message to every live, unmuted target that responds, in order, and makes nothing of the answers.
  ///
  /// A target whose method has exactly the key's types is called without a box. For any other the arguments are boxed,
  /// once for all, and converted. Errors of targets go to ``onError`` and end nothing, unless the proxy stops at the first.
  ///
  /// - Returns: how many were reached.
  @inlinable
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcast(message, crosses: false, repeat each arguments)
  }

  /// - Parameter crosses: whether the arguments are known to be `Sendable`.
  @inlinable @inline(__always)
  func broadcast<R, each A>(
    _ message: Message<(repeat each A) -> R>, crosses: Bool, _ arguments: repeat each A
  ) -> BroadcastSummary {
    let walk = core.begin(message.selector)
    if walk.hasQueued { return broadcastQueued(walk, message, crosses: crosses, repeat each arguments) }
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    var boxes: [ArgumentBox]?
    var summary = BroadcastSummary()
    var dead = 0
    for index in 0..<walk.count {
      let step = walk.route.steps[index]
      guard step.isActive else {
        summary.skipped += 1
        continue
      }
      guard let target = step.target else {
        dead += 1
        continue
      }
      do {
        if let method = step.method(of: wanted) {
          _ = try method._withUnsafeGuaranteedRef {
            try unsafeDowncast($0, to: TypedMethod<R, repeat each A>.self).call(target, repeat each arguments)
          }
        } else {
          if boxes == nil { boxes = boxed(repeat each arguments) }
          guard try core.sendBoxes(boxes ?? [], message.selector, step, target, through: self) != nil else { continue }
        }
        summary.delivered += 1
      } catch {
        summary.failed += 1
        if core.report(error, message.selector, step) { break }
      }
    }
    if dead + summary.skipped > 0 { core.end(walk, dead: dead, skipped: summary.skipped) }
    summary.skipped += dead
    if summary.nobodyResponded { core.silence(message.selector, self) }
    return summary
  }

  /// Sends a message to every live, unmuted target that responds, in order, and makes one result of the answers.
  ///
  /// A policy that knows its result early asks nobody further. Where nobody responds, the result is the policy's empty
  /// value.
  ///
  /// - Throws: the first error of a target, after the others have answered, or at once where the proxy stops at the
  ///   first; `nobodyResponds` where silence is an error.
  @inlinable
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    let walk = core.begin(message.selector)
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    let collector = policy.makeCollector()
    var boxes: [ArgumentBox]?
    var first: (any Error)?
    var (answered, dead, skipped) = (false, 0, 0)
    for index in 0..<walk.count {
      let step = walk.route.steps[index]
      guard step.isActive else {
        skipped += 1
        continue
      }
      guard let target = step.target else {
        dead += 1
        continue
      }
      do {
        let answer: R
        if let method = step.method(of: wanted) {
          answer = try method._withUnsafeGuaranteedRef {
            try unsafeDowncast($0, to: TypedMethod<R, repeat each A>.self).call(target, repeat each arguments)
          }
        } else {
          if boxes == nil { boxes = boxed(repeat each arguments) }
          guard let invocation = try core.sendBoxes(boxes ?? [], message.selector, step, target, through: self) else {
            continue
          }
          answered = true
          answer = try typedResult(of: invocation, from: target)
        }
        answered = true
        if try !collector.take(answer) { break }
      } catch {
        answered = true
        if first == nil { first = error }
        if core.stopsAtFirst { break }
      }
    }
    if dead + skipped > 0 { core.end(walk, dead: dead, skipped: skipped) }
    if let first { throw first }
    if !answered { try core.silenceOrThrow(message.selector, self) }
    return collector.finish()
  }
}

/// The arguments of a pack in boxes.
@inlinable
func boxed<each A>(_ arguments: repeat each A) -> [ArgumentBox] {
  var boxes: [ArgumentBox] = []
  for argument in repeat each arguments { boxes.append(ArgumentBox(storage: argument, isSendable: false)) }
  return boxes
}

extension RouteStep {
  /// Whether the registration lets messages through at this moment.
  @inlinable @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  /// The target, or `nil` when it has died.
  @inlinable @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.target }
  }

  /// The method, when its function type is `wanted`.
  @inlinable @inline(__always)
  func method(of wanted: ObjectIdentifier) -> Unmanaged<Method>? {
    guard let method, method._withUnsafeGuaranteedRef({ $0.functionType == wanted }) else { return nil }
    return method
  }
}
