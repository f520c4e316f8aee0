// World+Selectors.swift: interns selectors, and names messages and proxies in errors.

import Forwardcast
import Synchronization

extension World {
  /// Interns a selector. The number of new selectors is limited.
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
  /// If a script could intern all names, it could fill memory. A name that is not interned is in no
  /// table, so a stand-in, which is in no table either, is sent instead. The name itself is
  /// interned only if the message might reach a recording or a receiver of the host.
  func selectorToSend(_ name: String, argumentCount: Int, to receiver: any MessageReceiver) throws -> MessageSelector {
    if let known = MessageSelector(known: name) { return known }
    if !(receiver is ScriptObject), state.withLock({ $0.hasForeignReceivers }) { return try intern(name) }
    return try MessageSelector(World.standIn(argumentCount))
  }

  static func standIn(_ argumentCount: Int) -> String {
    "_unknownToEveryTable" + String(repeating: ":", count: argumentCount)
  }

  /// Replaces names in an error of Forwardcast. The name in the script replaces a stand-in. If no
  /// other proxy can be meant, the label of the proxy replaces the name of its class.
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

/// The names that scripts have interned. Names are never freed, so all sessions share one limit.
enum InternedNames {
  /// The bytes that the names and their records may use. Tests lower this limit.
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
      throw ScriptError(.limitExceeded, "the selectors of all scripts in the process exceed \(limit >> 20) MiB")
    }
  }
}
