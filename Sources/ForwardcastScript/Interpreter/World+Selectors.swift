// World+Selectors.swift: interned selectors, stand-ins for unknown ones, and errors in the script's names.

import Forwardcast
import Synchronization

extension World {
  /// Interns a selector that something answers. The number of new ones is limited.
  func intern(_ name: String) throws -> MessageSelector {
    if name == World.standIn(name.utf8.lazy.filter { $0 == UInt8(ascii: ":") }.count) {
      throw ScriptError(.invalidSelector, "\(name) is reserved")
    }
    if let known = MessageSelector(known: name) { return known }
    try state.withLock { state in
      try ScriptError.limit(state.internedCount < limits.names, "more than \(limits.names) selectors")
      state.internedCount += 1
    }
    try InternedNames.makeRoom(for: name)
    return try MessageSelector(name)
  }

  /// The selector to send for a name in the script.
  ///
  /// No table answers a name that the process has not interned. Interning it would let a script fill memory, so a stand-in that
  /// no table has is sent instead. Only if a host's receiver may get the message, or a recording keeps it, the name is interned,
  /// within the session's limit.
  func selectorToSend(_ name: String, argumentCount: Int, to receiver: any MessageReceiver) throws -> MessageSelector {
    if let known = MessageSelector(known: name) { return known }
    if !(receiver is ScriptObject), state.withLock({ $0.hasForeignReceivers }) { return try intern(name) }
    return try MessageSelector(World.standIn(argumentCount))
  }

  static func standIn(_ argumentCount: Int) -> String {
    "_unknownToEveryTable" + String(repeating: ":", count: argumentCount)
  }

  /// A library's error in the script's names: the written selector for a stand-in, and the label of the proxy for its class if no
  /// other proxy can be meant.
  func naming(_ sending: Sending, to receiver: ScriptReference, in error: any Error) -> any Error {
    guard let error = error as? MessageError else { return error }
    let isStandIn = error.selector == World.standIn(sending.arguments.count)
    let isProxy =
      error.code == .nobodyResponds && !(label(of: receiver.receiver)?.leadsToProxies ?? false)
      || error.code == .unrecognizedSelector && receiver.receiver is ScriptPoint
        && error.receiver == "\(type(of: receiver.receiver))"
    return MessageError(
      error.code, receiver: isProxy ? receiver.description : error.receiver,
      selector: isStandIn ? sending.selector : error.selector, evidence: error.evidence,
      argumentIndex: error.argumentIndex)
  }
}

/// The names that scripts have interned. They are never freed, so all sessions of a process share one limit.
enum InternedNames {
  /// Bytes that the names may take, including what is stored beside each. Tests lower it.
  static let limit = Atomic<Int>(16 << 20)
  private static let weightOfRecord = 128
  private static let used = Atomic<Int>(0)

  /// Counts a name that is about to be interned.
  /// - Throws: `limit exceeded`.
  static func makeRoom(for name: String) throws(ScriptError) {
    let limit = limit.load(ordering: .relaxed)
    let weight = name.utf8.count + weightOfRecord
    if used.wrappingAdd(weight, ordering: .relaxed).newValue > limit {
      used.wrappingSubtract(weight, ordering: .relaxed)
      throw ScriptError(.limitExceeded, "selectors of over \(limit >> 20) MiB in the process")
    }
  }
}
