// MessageLimits.swift: limits of messages from other processes.

/// Limits of messages from other processes, and of the memory of an endpoint for its senders. A
/// message beyond a limit is refused as a whole, before anything is decoded.
public struct MessageLimits: Hashable, Sendable {
  /// The longest text of one message or answer, in bytes of UTF-8. At most 2³⁰.
  public var bytes: Int
  /// The most values, keys and containers of one message.
  public var items: Int
  /// How deep lists and records may nest. At most 64.
  public var depth: Int
  /// The most open lines of an endpoint. For one more an idle line is closed: of the same sender,
  /// or of the sender with the most lines, which opens another with its next message.
  public var lines: Int
  /// The window: the most messages of one line, a running one and waiting ones.
  public var waiting: Int
  /// The most memory of an endpoint, in bytes: for messages, each counted as twice its text, 16
  /// bytes for each item and 4 KiB; and for answers that are kept in case the engine delivers their
  /// messages twice.
  ///
  /// A sender may hold no more than it leaves to others. A message or answer that finds no room
  /// drops the oldest answers that idle lines keep. If that is not enough, the message is refused
  /// as `busy` and does not run; an answer is not kept.
  public var memory: Int

  /// Creates limits with these properties, raised to 1 and lowered to the stated maximum.
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

  /// The limits within their possible ranges.
  var bounded: MessageLimits {
    MessageLimits(bytes: bytes, items: items, depth: depth, lines: lines, waiting: waiting, memory: memory)
  }
}
