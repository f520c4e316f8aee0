// MailboxTable.swift: the mailboxes of one proxy; a value without locks.

/// Identifies a mailbox: by its context and, where that runs several at a time, by its target.
struct MailboxKey: Hashable, Sendable {
  let context: ObjectIdentifier
  let target: ObjectIdentifier?
}

/// The mailboxes of one proxy, held weakly. Registrations and messages on their way retain them.
struct MailboxTable: Sendable {
  private struct Entry: Sendable {
    weak let mailbox: Mailbox?
  }

  private var entries: [MailboxKey: Entry] = .init()
  /// The number of entries at which those of dead mailboxes are removed: twice the number found alive, so that an entry is looked
  /// at once or twice.
  private var countToClean = MailboxTable.fewest
  private static let fewest = 16

  var count: Int { entries.count }

  var all: [Mailbox] { entries.values.compactMap(\.mailbox) }

  /// Enters a mailbox unless there is one.
  ///
  /// - Returns: the one for that key, and the mailboxes that were loaded, to be released after the lock: theirs may be the last
  ///   references.
  mutating func enter(_ new: Mailbox, for key: MailboxKey) -> (mailbox: Mailbox, seen: [Mailbox]) {
    if let old = entries[key]?.mailbox { return (old, []) }
    var seen: [Mailbox] = []
    if entries.count >= countToClean {
      entries = entries.filter { entry in
        guard let mailbox = entry.value.mailbox else { return false }
        seen.append(mailbox)
        return true
      }
      countToClean = max(entries.count * 2, MailboxTable.fewest)
    }
    entries[key] = Entry(mailbox: new)
    return (new, seen)
  }
}
