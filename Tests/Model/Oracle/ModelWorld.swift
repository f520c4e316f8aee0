// ModelWorld.swift: a tree of multicast proxies and one message to it, as plain values.

/// Where a target's messages run.
enum ModelPlace: String, Hashable, CaseIterable, Sendable {
  case direct, queue1, queue2, automatic1, automatic2

  /// The queue that the target is served on, unless the sender is there and the delivery is automatic.
  var queue: ModelQueue? {
    switch self {
    case .direct: nil
    case .queue1, .automatic1: .queue1
    case .queue2, .automatic2: .queue2
    }
  }

  var isAutomatic: Bool { self == .automatic1 || self == .automatic2 }
}

enum ModelQueue: String, Hashable, CaseIterable, Sendable { case queue1, queue2 }

/// One target of a proxy, or a proxy that stands among the targets of another.
struct ModelTarget: Hashable, Sendable {
  /// What the target does with the two messages of the model, `model:` and `modelAgrees:`, both of one `Int`.
  indirect enum Kind: Hashable, Sendable {
    /// A row of the message's own types, which answers.
    case typed
    /// A row of other number types: arguments and answer are converted.
    case converting
    /// A row that answers a text where a number is wanted.
    case text
    /// A row whose argument is a text: a number does not fit.
    case unfit
    /// A row of the message's own types, which throws.
    case throwing
    /// No row for the message.
    case silent
    /// A row that suspends and answers, or throws.
    case suspending, suspendingAndThrowing
    case proxy(ModelProxy)
  }

  /// What was done to the registration, or to the target, before the message.
  enum Condition: String, Hashable, CaseIterable, Sendable { case active, muted, removed, dead }

  /// For which selectors the target is registered.
  enum Scope: String, Hashable, CaseIterable, Sendable { case everything, named, other }

  /// What the target does while it runs the message, beside answering.
  enum Act: Hashable, Sendable {
    case remove(Int)
    case mute(Int)
    case kill(Int)
    /// Adds one more target to its own proxy.
    case add
    /// Broadcasts the message once more, through the outermost proxy.
    case send
  }

  var id = 0
  var kind = Kind.typed
  /// What it answers; `true` when it is above 0.
  var answer = 1
  var place = ModelPlace.direct
  var priority = 0
  var isStrong = false
  var condition = Condition.active
  var scope = Scope.everything
  /// Whether what waits for the target is delivered although it was removed.
  var keepsPending = false
  var act: Act?
  /// Whether a `ForwardingProxy` stands before the target.
  var isForwarded = false

  /// Targets of larger numbers joined while a message was on its way.
  static let firstLate = 1000

  /// The target that another one adds.
  static func late(addedBy id: Int) -> ModelTarget {
    var target = ModelTarget()
    target.id = firstLate + id
    return target
  }

  var proxy: ModelProxy? { if case .proxy(let proxy) = kind { proxy } else { nil } }
  var suspends: Bool { kind == .suspending || kind == .suspendingAndThrowing }

  /// Whether an automatic delivery queues the target's messages also when the sender is there. What stands behind a
  /// forwarding proxy does not show.
  var needsOwnTurn: Bool { suspends && !isForwarded }
  var throwsItself: Bool { kind == .throwing || kind == .suspendingAndThrowing }
  var name: String { (proxy == nil ? "t" : "p") + "\(id)" }
}

/// One multicast proxy with its options.
struct ModelProxy: Hashable, Sendable {
  enum Silence: String, Hashable, CaseIterable, Sendable { case ignored, thrown, handled }

  /// 0 for the outermost, else the number of the target that it stands for.
  var id = 0
  var targets: [ModelTarget] = []
  var stopsAtFirst = false
  var silence = Silence.ignored
  /// Whether it has an error handler. The outermost always has one.
  var hasHandler = true

  var name: String { "p\(id)" }

  /// Targets in the order of delivery: by priority, then in the order in which they were added.
  var inOrder: [ModelTarget] {
    targets.enumerated()
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  /// Every target at any depth, inner proxies included.
  var all: [ModelTarget] { targets.flatMap { [$0] + ($0.proxy?.all ?? []) } }
}

/// One case: proxies, what is done to them, and where the sender is.
struct ModelWorld: Hashable, Sendable {
  enum Sender: String, Hashable, Sendable { case outside, onQueue1 }

  var root = ModelProxy()
  var sender = Sender.outside
  /// Whether the proxy had worked out who responds before targets were muted and removed.
  var isWarm = false

  /// The queues that targets use.
  var queues: [ModelQueue] {
    let used = Set(root.all.compactMap(\.place.queue))
    return ModelQueue.allCases.filter(used.contains)
  }

  var isNested: Bool { root.targets.contains { $0.proxy != nil } }
  var depth: Int { root.depth }
}

extension ModelProxy {
  var depth: Int { 1 + (targets.compactMap { $0.proxy?.depth }.max() ?? 0) }
}

extension ModelTarget: CustomStringConvertible {
  private var words: [String] {
    var words = ["\(name)"]
    if proxy == nil { words += ["\(kind)", "\(answer)"] }
    words.append(place.rawValue)
    if priority != 0 { words.append("priority \(priority)") }
    if isForwarded { words.append("behind a forwarding proxy") }
    if isStrong { words.append("strong") }
    if condition != .active { words.append(condition.rawValue) }
    if scope != .everything { words.append("only \(scope == .named ? "this message" : "another message")") }
    if keepsPending { words.append("deliver pending") }
    switch act {
    case nil: break
    case .remove(let id): words.append("removes \(id)")
    case .mute(let id): words.append("mutes \(id)")
    case .kill(let id): words.append("lets \(id) die")
    case .add: words.append("adds a target")
    case .send: words.append("sends again")
    }
    return words
  }

  var description: String {
    words.joined(separator: ", ") + (proxy.map { "\n" + $0.text(indent: 1) } ?? "")
  }
}

extension ModelProxy {
  fileprivate func text(indent: Int) -> String {
    var words: [String] = []
    if stopsAtFirst { words.append("stops at the first error") }
    if silence != .ignored { words.append("silence \(silence.rawValue)") }
    if !hasHandler { words.append("no handler") }
    let lines = targets.map { "\($0)".split(separator: "\n").joined(separator: "\n  ") }
    return ([words.isEmpty ? "plain options" : words.joined(separator: ", ")] + lines)
      .joined(separator: "\n")
      .split(separator: "\n").map { String(repeating: "  ", count: indent) + $0 }.joined(separator: "\n")
  }
}

extension ModelWorld: CustomStringConvertible {
  /// One line for each target, in the order in which they were added.
  var description: String {
    "sender \(sender.rawValue)\(isWarm ? ", warm" : "")\n" + root.text(indent: 1)
  }
}
