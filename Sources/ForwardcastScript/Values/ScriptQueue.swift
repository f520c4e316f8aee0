// ScriptQueue.swift: serial queues of a script.

import Dispatch
import Forwardcast

/// A serial queue that `queue q` creates, with its name in errors and traces.
public final class ScriptQueue: Sendable, CustomStringConvertible {
  /// Identifies the queue to code that runs on it. Does not retain the queue.
  final class Mark: Sendable {
    let name: String
    let world: WeakObject
    let turn = ToldTurn()
    init(_ name: String, _ world: World) { (self.name, self.world) = (name, WeakObject(world)) }
  }

  private static let key = DispatchSpecificKey<Mark>()

  private let queue: DispatchQueue
  let mark: Mark
  /// The host's replacement for deliveries on the queue.
  private let replaced: Delivery?

  init(_ name: String, _ world: World, _ delivers: ((String, @escaping @Sendable (() -> Void) -> Void) -> Delivery)?) {
    mark = Mark(name, world)
    let queue = DispatchQueue(label: name)
    queue.setSpecific(key: ScriptQueue.key, value: mark)
    replaced = delivers?(name) { body in queue.sync { body() } }
    self.queue = queue
  }

  /// The queue, of any session, whose delivery the current thread runs.
  static var current: Mark? { DispatchQueue.getSpecific(key: key) }

  var delivery: Delivery { replaced ?? .queue(queue) }

  public var description: String { "<queue \(mark.name)>" }
}
