// SelectorNames.swift: the process's table of names.

/// An interned name, immutable and never freed. Its UTF-8 text follows in the same memory. The text
/// is a copy, since the library of a literal can be unloaded.
@usableFromInline
struct SelectorRecord {
  let hash: Int
  let arity: UInt16
  let count: UInt16

  static func make(name: String, hash: Int, arity: Int) -> UnsafePointer<SelectorRecord> {
    let count = name.utf8.count
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<SelectorRecord>.size + count, alignment: MemoryLayout<SelectorRecord>.alignment)
    let text = memory + MemoryLayout<SelectorRecord>.size
    UnsafeMutableRawBufferPointer(start: text, count: count).copyBytes(from: name.utf8)
    return UnsafePointer(
      memory.initializeMemory(
        as: SelectorRecord.self, to: SelectorRecord(hash: hash, arity: UInt16(arity), count: UInt16(count))))
  }
}

extension UnsafePointer<SelectorRecord> {
  var text: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: UnsafeRawPointer(self) + MemoryLayout<SelectorRecord>.size, count: Int(pointee.count))
  }

  var name: String { String(decoding: text, as: UTF8.self) }

  /// True if the name is `other`, in any canonically equivalent spelling.
  fileprivate func isName(_ other: String) -> Bool { text.elementsEqual(other.utf8) || name == other }
}

enum SelectorNames {
  /// An open-addressed hash table. Its capacity is a power of two.
  private struct Table {
    var records = ContiguousArray<UnsafePointer<SelectorRecord>?>(repeating: nil, count: 256)
    var count = 0

    func find(_ name: String, _ hash: Int) -> UnsafePointer<SelectorRecord>? {
      var place = hash & (records.count - 1)
      while let record = records[place] {
        if record.pointee.hash == hash, record.isName(name) { return record }
        place = (place &+ 1) & (records.count - 1)
      }
      return nil
    }

    mutating func add(_ record: UnsafePointer<SelectorRecord>) {
      if count * 8 >= records.count * 5 {
        let old = records
        records = ContiguousArray(repeating: nil, count: old.count * 2)
        for record in old { if let record { put(record) } }
      }
      put(record)
      count += 1
    }

    private mutating func put(_ record: UnsafePointer<SelectorRecord>) {
      var place = record.pointee.hash & (records.count - 1)
      while records[place] != nil { place = (place &+ 1) & (records.count - 1) }
      records[place] = record
    }
  }

  private static let table = Guarded(Table())

  @inline(never) static func intern(_ name: String, arity: Int) -> MessageSelector {
    let hash = name.hashValue
    return table.withLock { table in
      if let known = table.find(name, hash) { return MessageSelector(record: known) }
      let record = SelectorRecord.make(name: name, hash: hash, arity: arity)
      table.add(record)
      return MessageSelector(record: record)
    }
  }

  static func find(_ name: String) -> MessageSelector? {
    guard name.utf8.count <= MessageSelector.maximumLength else { return nil }
    let hash = name.hashValue
    return table.withLock { table in table.find(name, hash).map { MessageSelector(record: $0) } }
  }

  static var count: Int { table.withLock { $0.count } }
}
