// World.swift: what the reference knows of registrations and of messages that are under way.

final class Registered: @unchecked Sendable {
  let object: Object
  let proxy: Int
  let context: Int?
  var only: Set<Word>?
  var priority: Int
  var isStrong: Bool
  var buffer: Buffer
  var deliversPending: Bool
  var isMuted = false
  var isCancelled = false
  /// Whether it has or had a buffer, so that its messages are counted.
  var hasBuffer: Bool
  var waiting: [Parcel] = []
  /// Places in the buffer that senders have been given and not used yet.
  var reserved = 0
  /// Whether a method that suspends is running, and the messages that wait for its end.
  var isBusy = false
  var parked: [Parcel] = []

  init(_ addition: Addition) {
    (object, proxy, context) = (addition.object, addition.proxy, addition.context)
    (priority, isStrong) = (addition.priority ?? 0, addition.isStrong)
    only = addition.only.map(Set.init)
    (buffer, deliversPending) = (addition.buffer, addition.deliversPending)
    hasBuffer = addition.buffer != .unbounded
  }

  var isFull: Bool {
    guard case .suspendSender(let count) = buffer, context != nil else { return false }
    return waiting.count + reserved >= count
  }
}

final class InstalledHook {
  let setup: HookSetup
  let number: Int
  var isCancelled = false
  var hasRun = false
  init(_ setup: HookSetup, _ number: Int) { (self.setup, self.number) = (setup, number) }
}

/// A registration as it was when the message began.
final class Node: @unchecked Sendable {
  enum Outcome: Equatable {
    case open, queued, delivered(Int?, wasQueued: Bool), failed(String), skipped(String), unlisted
  }
  /// The registrations on the path to it, the outermost first.
  let path: [Registered]
  /// The proxies on that path, and those around the message itself.
  let proxies: [Int]
  let object: Object
  /// Whether the registration is for the message's selector.
  let isInScope: Bool
  /// The version of a target's row; `nil` if the object does not respond.
  let row: Int?
  /// What a nested proxy had that is called directly.
  let level: Level?
  var outcome = Outcome.open
  var isPosted = false
  /// Whether hooks of a nested proxy threw an error.
  var hasThrown = false
  var hasPlace = false
  /// What a nested proxy gave that has been called.
  var reply: Reply?
  /// What came of it, as soon as that is known, and the sender that waits for it.
  var served: Served?
  var waiter: (home: Home, continuation: UnsafeContinuation<Void, Never>)?
  var registered: Registered { path[path.count - 1] }

  init(
    path: [Registered], proxies: [Int], object: Object, isInScope: Bool = true, row: Int?, level: Level? = nil
  ) {
    (self.path, self.proxies, self.object) = (path, proxies, object)
    (self.isInScope, self.row, self.level) = (isInScope, row, level)
  }
}

/// A proxy as it was when the message began.
final class Level: @unchecked Sendable {
  let proxy: Int
  let hooks: [InstalledHook]
  let nodes: [Node]
  let path: [Registered]
  /// The proxies on the path to it and itself.
  let proxies: [Int]
  /// Whether the message reached or passed over its targets, and whether it was sent to the queued ones.
  var (isListed, hasPosted) = (false, false)
  /// Whether it has registrations of dead targets, which a report may list in place of the empty proxy.
  var hadDead = false
  /// The answer that a hook gave in place of the targets'.
  var own: Node?
  init(_ proxy: Int, hooks: [InstalledHook], nodes: [Node], path: [Registered], proxies: [Int]) {
    (self.proxy, self.hooks, self.nodes, self.path, self.proxies) = (proxy, hooks, nodes, path, proxies)
  }
}

/// Where a waiting sender goes on.
enum Home { case sender, context(Int) }

/// What waits on a context.
enum Turn { case parcel(Parcel), sender(UnsafeContinuation<Void, Never>) }

/// A sender that waits for a place in the buffer of a target.
struct RoomWaiter {
  let node: Node
  let home: Home
  let continuation: UnsafeContinuation<Void, Never>
}

/// A message that waits on a context for one registration.
final class Parcel: @unchecked Sendable {
  let node: Node
  let travel: Travel
  let argument: Int
  let deliversPending: Bool
  init(_ node: Node, _ travel: Travel, _ argument: Int) {
    (self.node, self.travel, self.argument) = (node, travel, argument)
    deliversPending = node.registered.deliversPending
  }
}

/// What becomes of outcomes: counts, a list, or one result of the answers.
enum Mode: Equatable {
  case broadcast, report, collect(Policy)
  var policy: Policy? { if case .collect(let policy) = self { policy } else { nil } }
}

/// A message that is under way.
final class Travel: @unchecked Sendable {  // of one reference, as are the others
  let send: Send
  let home: Home
  var dropped = 0
  /// Targets that were dead before.
  var dead = 0
  var failuresOfHooks = 0
  var isOver = false
  var hasRun = false
  /// Targets that its report or a pending error keeps.
  var holds: Set<Int> = []
  init(_ send: Send, home: Home) { (self.send, self.home) = (send, home) }
  var word: Word { send.word }
  /// Whether the sender waits for what runs on other contexts, not for room alone.
  var waits: Bool { send.verb.waits && send.verb != .broadcastWhenReady }
  var mode: Mode {
    send.verb.policy.map { .collect($0) }
      ?? (send.verb == .forward || send.verb == .forwardAndWait ? .report : .broadcast)
  }
}

/// An error, and the proxies around the place where it happened, the outermost first.
struct Fault {
  var text: String
  var proxies: [Int]
  /// Whether it stands in a report, so that hooks see it and the sender is not thrown it.
  var isListed = false
}

struct Answer {
  var value: Int
  var node: Node?
}

/// What came of a part of a message.
struct Served {
  var answers: [Answer] = []
  var errors: [Fault] = []
  /// Errors after the result was known.
  var late: [Fault] = []
  var hasFailed = false
}

/// What a proxy gives: an outcome, or that of its targets as soon as these have theirs.
enum Reply { case now(Served), ofTargets }
