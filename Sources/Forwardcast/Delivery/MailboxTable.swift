// MailboxTable.swift: the mailboxes and gates of one proxy, a value without locks.

/// Identifies a mailbox by its context and, if the context is concurrent, its target. Also
/// identifies a target's ``SerialGate``: `context` is then the identity of the mailbox.
struct MailboxKey: Hashable, Sendable {
  let context: ObjectIdentifier
  let target: ObjectIdentifier?
}

/// The mailboxes and gates of one proxy, held weakly. Registrations, delivery groups and scheduled
/// drains retain them.
struct MailboxTable: Sendable {
  private struct Entry: Sendable {
    weak let object: (any AnyObject & Sendable)?
  }

  private var entries: [MailboxKey: Entry] = .init()
  /// The number of entries at which dead entries are removed: twice the number of live entries
  /// after the previous removal, so removal takes amortized constant time.
  private var countToClean = MailboxTable.fewest
  private static let fewest = 16

  var count: Int { entries.count }

  var all: [any AnyObject & Sendable] { entries.values.compactMap(\.object) }

  /// Adds a mailbox or gate unless the key has one, and returns the object of the key. The caller
  /// releases the objects in `seen` outside the lock, since these may be the last references.
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
    assert(entries[key]?.object == nil, "a key has one mailbox or gate")
    entries[key] = Entry(object: new)
    return (new, seen)
  }
}
