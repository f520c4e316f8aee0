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
    broadcast(message, Arguments(values: (repeat each arguments)), crosses: false)
  }

  /// One function of each type in the user's module, so that a place that sends is a call.
  @inlinable @inline(never)
  func broadcast<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, crosses: Bool
  ) -> BroadcastSummary {
    let walk = core.begin(message.selector)
    if walk.hasQueued { return broadcastQueued(message, arguments, along: walk, crosses: crosses) }
    return broadcast(message, arguments, along: walk, crosses: crosses)
  }

  @inlinable @inline(__always)
  func broadcast<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, along walk: RouteWalk,
    crosses: Bool
  ) -> BroadcastSummary {
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    var rest = RestOfBroadcast(crosses: crosses)
    var index = 0
    while index < walk.count {
      let step = walk.steps[index]
      index &+= 1
      if step.isActive && step.functionType == wanted {
        do {
          if try step.call(arguments, returning: R.self) == nil { rest.dead &+= 1 }
        } catch {
          if rest.fail(error, step, message.selector, core) { break }
        }
      } else if rest.serve(step, arguments, message.selector, core, through: self) {
        break
      }
    }
    return rest.end(walk, reached: index, message.selector, core, through: self)
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
    try collect(message, Arguments(values: (repeat each arguments)), returning: policy, crosses: false)
  }

  @inlinable
  func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, along walk: RouteWalk,
    returning policy: ReturnPolicy<R, Output>, crosses: Bool = false
  ) throws -> Output {
    switch policy.way {
    case .folding(let initial, let step):
      var result = initial()
      try ask(message, arguments, along: walk, crosses: crosses) { try step(&result, $0) }
      return result
    case .gathering(let makeCollector):
      let collector = makeCollector()
      try ask(message, arguments, along: walk, crosses: crosses) { try collector.take($0) }
      return collector.finish()
    }
  }

  /// Gives the answers to `take`, one after another, until it says `false`.
  @inlinable
  func ask<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, along walk: RouteWalk,
    crosses: Bool, _ take: (R) throws -> Bool
  ) throws {
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    var boxes: [ArgumentBox]?
    var first: (any Error)?
    var (answered, dead, skipped) = (false, 0, 0)
    for index in 0..<walk.count {
      let step = walk.steps[index]
      guard step.isActive else {
        skipped &+= 1
        continue
      }
      do {
        var answer: R?
        if step.functionType == wanted {
          answer = try step.call(arguments, returning: R.self)
          if answer == nil { dead &+= 1 }
        } else if let target = step.target {
          if boxes == nil { boxes = arguments.boxes(crossing: crosses) }
          if let invocation = try core.sendBoxes(boxes ?? [], message.selector, step, target, through: self) {
            answered = true
            answer = .some(try typedResult(of: invocation, from: target))
          }
        } else {
          dead &+= 1
        }
        guard let answer else { continue }
        answered = true
        if try !take(answer) { break }
      } catch {
        answered = true
        if first == nil { first = error }
        if core.stopsAtFirst { break }
      }
    }
    if dead &+ skipped > 0 { core.end(walk, dead: dead, skipped: skipped) }
    withExtendedLifetime(walk.route) {}  // the steps that were walked live as long
    if let first { throw first }
    if !answered { try core.silenceOrThrow(message.selector, self) }
  }
}

extension RouteStep {
  /// Whether the registration lets messages through at this moment.
  @inlinable @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  /// The target, or `nil` when it has died.
  @inlinable @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.weakTarget }
  }

  /// The typed door, for a step whose ``functionType`` is that of `arguments` and `R`. `nil` when the target has died.
  ///
  /// Nothing is retained but a weak target for the time of the call: the route keeps method and strong target alive.
  @inlinable @inline(__always)
  func call<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) throws -> R? {
    guard let method else { return nil }
    let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.toOpaque())
    if let strong {
      return try strong._withUnsafeGuaranteedRef { target in
        try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
      }
    }
    guard let target = registration._withUnsafeGuaranteedRef({ $0.weakTarget }) else { return nil }
    return try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
  }
}
