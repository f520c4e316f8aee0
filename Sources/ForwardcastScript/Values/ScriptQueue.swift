// ScriptQueue.swift: the serial queues that a script names.

import Dispatch
import Forwardcast

/// What `queue q` makes: a serial queue of its own, under the name that errors and traces give it.
public final class ScriptQueue: Sendable, CustomStringConvertible {
  /// What code that runs on a queue finds there. It does not keep the queue, which keeps it.
  final class Mark: Sendable {
    let name: String
    let turn = ToldTurn()
    init(_ name: String) { self.name = name }
  }

  private static let key = DispatchSpecificKey<Mark>()

  private let queue: DispatchQueue
  let mark: Mark
  /// The delivery that the host has put in place of the queue's own.
  private let replaced: Delivery?

  init(_ name: String, _ delivers: ((String, @escaping @Sendable (() -> Void) -> Void) -> Delivery)?) {
    mark = Mark(name)
    let queue = DispatchQueue(label: name)
    queue.setSpecific(key: ScriptQueue.key, value: mark)
    replaced = delivers?(name) { body in queue.sync { body() } }
    self.queue = queue
  }

  /// The queue of a script that the running code is on.
  static var current: Mark? { DispatchQueue.getSpecific(key: key) }

  var delivery: Delivery { replaced ?? .queue(queue) }

  /// Runs `body` once all that was put on the queue before has run; at once where nothing is put on it.
  func afterwards(_ body: @escaping @Sendable () -> Void) {
    if replaced == nil { queue.async(execute: body) } else { body() }
  }

  public var description: String { "<queue \(mark.name)>" }
}
