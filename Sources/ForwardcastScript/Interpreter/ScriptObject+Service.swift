// ScriptObject+Service.swift: what a service center tells an object, as messages to its rows.

import Forwardcast
import ForwardcastCenters
import Synchronization

extension ScriptObject: ServiceLifecycle {
  func serviceDidInit(in center: ServiceCenter) throws { _ = try callHook("serviceDidInit", isMaking: true) }

  func serviceWillClearData() throws { _ = try callHook("serviceWillClearData") }

  var isPersistent: Bool {
    do {
      guard let answer = try callHook("isPersistent") else { return false }
      guard let isPersistent = answer.value as? Bool else {
        throw ScriptFault(.typeMismatch, "isPersistent of \(receiverName) needs to answer a Bool")
      }
      return isPersistent
    } catch {
      HookErrors.current?.add(error)
      return false
    }
  }

  /// Sends the object a message when it has the row. Gives the row's answer.
  private func callHook(_ name: String, isMaking: Bool = false) throws -> ArgumentBox? {
    guard let selector = MessageSelector(known: name), objectTable?.responds(to: selector) ?? false else { return nil }
    var call = Invocation(selector, arguments: [])
    let sending = SendInProgress.current.map { SendInProgress(run: $0.run, depth: $0.depth + 1, isMaking: isMaking) }
    // A hook is a send of its own, which its row counts.
    _ = sending?.beginRow()
    try SendInProgress.$current.withValue(sending) { try perform(&call) }
    return call.result
  }
}

/// The errors of hooks that one `clear services` has met.
final class HookErrors: Sendable {
  @TaskLocal static var current: HookErrors?

  private let errors = Mutex<[any Error]>([])

  func add(_ error: any Error) { errors.withLock { $0.append(error) } }
  var first: (any Error)? { errors.withLock { $0.first } }
}
