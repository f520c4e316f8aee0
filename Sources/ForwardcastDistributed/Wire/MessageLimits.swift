// MessageLimits.swift: limits of messages from other processes.

/// Limits of messages from other processes, and of the memory that an endpoint holds for senders. A
/// message beyond a limit is refused as a whole, before anything is decoded.
public struct MessageLimits: Hashable, Sendable {
  /// The maximum length of one message or answer, in bytes of UTF-8. At most 2³⁰.
  public var bytes: Int
  /// The maximum number of values, keys and containers in one message.
  public var items: Int
  /// How deep lists and records may nest. At most 64.
  public var depth: Int
  /// The maximum number of open lines of an endpoint; a line orders the messages of one sender.
  /// Beyond the maximum, an idle line of the same sender, or of the sender with the most lines, is
  /// closed. The closed line's sender opens a new line with its next message.
  public var lines: Int
  /// The window: the maximum number of messages of one line, running and waiting.
  public var waiting: Int
  /// The maximum memory of an endpoint in bytes, for messages and kept answers. A message counts as
  /// 4 KiB, plus 16 bytes for each item, plus twice its text. Answers are kept in case the engine
  /// delivers a message twice.
  ///
  /// Each sender can hold at most as much memory as is still free. To make room, the oldest kept
  /// answers of idle lines are dropped. A message that still does not fit is refused as `busy` and
  /// does not run. An answer that does not fit is not kept.
  public var memory: Int

  /// Creates limits with these properties, clamped to their possible ranges.
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

  var bounded: MessageLimits {
    MessageLimits(bytes: bytes, items: items, depth: depth, lines: lines, waiting: waiting, memory: memory)
  }
}
