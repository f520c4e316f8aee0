// MessageLimits.swift: how large a message from another process may be.

/// How large a message may be that comes from another process, and how much an endpoint keeps for its senders.
///
/// A message is measured before anything is made of it: one beyond a bound is refused as a whole.
public struct MessageLimits: Hashable, Sendable {
  /// The longest text of one message or answer, in bytes of UTF-8. At most 2³⁰.
  public var bytes: Int
  /// How many values, keys and containers one message may hold.
  public var items: Int
  /// How deeply lists and records may lie in one another. At most 64.
  public var depth: Int
  /// How many lines an endpoint keeps at a time. For one more an idle one goes: of the sender that opens, or of the one that
  /// has most; whose it was opens another when it sends again.
  public var lines: Int
  /// The window: how many messages of one line may be under way, one that runs and others that wait for their turn.
  public var waiting: Int
  /// The memory of an endpoint, in bytes, for messages under way, each counted as twice its text, 16 for each item and 4 KiB,
  /// and for answers that are kept in case the engine delivers their messages twice.
  ///
  /// One sender holds no more of it than it leaves to others. Where there is no room a message is refused as `busy` and does not
  /// run, and an answer is not kept.
  public var memory: Int

  /// Bounds, each raised to 1 and lowered to what is said at it.
  /// The parameters are the properties of these names.
  public init(
    bytes: Int = 1 << 20, items: Int = 1 << 16, depth: Int = 32, lines: Int = 1024, waiting: Int = 16,
    memory: Int = 128 << 20
  ) {
    self.bytes = min(max(bytes, 1), 1 << 30)
    self.items = min(max(items, 1), 1 << 30)
    self.depth = min(max(depth, 1), 64)
    self.lines = max(lines, 1)
    self.waiting = max(waiting, 1)
    self.memory = max(memory, 0)
  }

  /// The same within what can be, whatever a property was set to.
  var bounded: MessageLimits {
    MessageLimits(bytes: bytes, items: items, depth: depth, lines: lines, waiting: waiting, memory: memory)
  }
}
