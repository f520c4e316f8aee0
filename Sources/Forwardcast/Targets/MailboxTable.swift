// MailboxTable.swift: the mailboxes of one proxy, as long as something uses them; a value without locks.

/// Whose messages a mailbox holds: those of a context, or, where several can run on it at a time, those of one target.
struct MailboxKey: Hashable, Sendable {
  let context: ContextIdentity
  let target: ObjectIdentifier?
}

/// The mailboxes of one proxy. Registrations and messages on their way keep them, the table does not.
struct MailboxTable: Sendable {
  private struct Entry: Sendable {
    weak let mailbox: Mailbox?
  }

  private var entries: [MailboxKey: Entry] = .init()
  /// The number of entries at which those of mailboxes that have gone are removed: twice the number that was found in use, so that
  /// an entry is looked at once or twice.
  private var countToClean = MailboxTable.fewest
  private static let fewest = 16

  /// How many entries there are, those of mailboxes that have gone included.
  var count: Int { entries.count }

  /// The mailboxes that are in use.
  var all: [Mailbox] { entries.values.compactMap(\.mailbox) }

  /// Enters a mailbox unless there is one.
  ///
  /// - Returns: the one that is there now, and mailboxes that were looked at: to be released after the lock, since theirs
  ///   may be the last references.
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
