// MailboxTable.swift: the mailboxes and gates of one proxy; a value without locks.

/// Identifies a mailbox: by its context and, where that runs several at a time, by its target; or a gate, by mailbox and target.
struct MailboxKey: Hashable, Sendable {
  let context: ObjectIdentifier
  let target: ObjectIdentifier?
}

/// The mailboxes and gates of one proxy, held weakly. Registrations and messages on their way retain them.
struct MailboxTable: Sendable {
  private struct Entry: Sendable {
    weak let object: (any AnyObject & Sendable)?
  }

  private var entries: [MailboxKey: Entry] = .init()
  /// The number of entries at which those of dead objects are removed: twice the number found alive, so that an entry is looked
  /// at once or twice.
  private var countToClean = MailboxTable.fewest
  private static let fewest = 16

  var count: Int { entries.count }

  var all: [Mailbox] { entries.values.compactMap { $0.object as? Mailbox } }

  /// Enters a mailbox or gate unless there is one.
  ///
  /// - Returns: the one for that key, and the objects that were loaded, to be released after the lock: theirs may be the last
  ///   references.
  mutating func enter<Object: AnyObject & Sendable>(_ new: Object, for key: MailboxKey)
    -> (object: Object, seen: [any AnyObject & Sendable])
  {
    if let old = entries[key]?.object as? Object { return (old, []) }
    var seen: [any AnyObject & Sendable] = []
    if entries.count >= countToClean {
      entries = entries.filter { entry in
        guard let object = entry.value.object else { return false }
        seen.append(object)
        return true
      }
      countToClean = max(entries.count * 2, MailboxTable.fewest)
    }
    assert(entries[key]?.object == nil, "a context has one mailbox")
    entries[key] = Entry(object: new)
    return (new, seen)
  }
}
