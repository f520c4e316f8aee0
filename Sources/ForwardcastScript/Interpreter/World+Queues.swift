// World+Queues.swift: deliveries on queues, the wait for deliveries, and their errors.

import Forwardcast
import ForwardcastCenters

struct QueueState: Sendable {
  var count = 0
  /// The queues of each proxy's targets, past and present.
  var ofProxies: [ObjectIdentifier: (proxy: WeakObject, queues: [ScriptQueue])] = [:]
  /// The runs in progress, innermost last. Deliveries on queues belong to the innermost run.
  var runs: [Run] = []
  /// The number of methods that have begun on queues.
  var turns = 0
}

extension World {
  /// A timeout that no script reaches, since steps are limited.
  static let patience = Duration.seconds(Int64(1) << 33)

  var runInProgress: Run? { queues { $0.runs.last } }

  /// Runs `body` as the run in progress, and then waits for all queued deliveries.
  func whileInProgress<T>(_ run: Run, _ body: () throws -> T) throws -> T {
    queues { $0.runs.append(run) }
    defer {
      run.end()
      queues { state in state.runs.removeAll { $0 === run } }
    }
    let result = Result { try body() }
    // A text that a host runs during a method on a queue does not wait.
    if currentQueue == nil { try waitForQueues() }
    return try result.get()
  }

  /// Runs `body` as part of the message in progress. For a call by the host, the message belongs to
  /// the run in progress, or to a run of its own.
  func inProgress<T>(isShared: Bool = false, _ body: (SendInProgress) throws -> T) rethrows -> T {
    if let send = SendInProgress.current ?? runInProgress.map({ SendInProgress(run: $0, depth: 1) }) {
      return try body(send)
    }
    let run = Run(self, isShared: isShared)
    defer { run.end() }
    return try body(SendInProgress(run: run, depth: 1))
  }

  /// The queue of this session whose delivery the current thread runs.
  var currentQueue: ScriptQueue.Mark? { ScriptQueue.current.flatMap { $0.world.object === self ? $0 : nil } }

  static let queueLimit = 1000

  func makeQueue(_ name: String) throws -> ScriptQueue {
    let queue = ScriptQueue(name, self, handlers.delivers)
    try queues { state in
      try ScriptError.limit(state.count < World.queueLimit, "more than \(World.queueLimit) queues")
      state.count += 1
    }
    if handlers.delivers == nil { queueEnds.add(BareReceiver {}, delivery: queue.delivery, ownership: .strong) }
    return queue
  }

  func note(_ queue: ScriptQueue, of proxy: ScriptMulticast) {
    let (id, weak) = (ObjectIdentifier(proxy), WeakObject(proxy))
    queues { state in
      let known = state.ofProxies[id].flatMap { $0.proxy.object === weak.object ? $0.queues : nil } ?? []
      let isKnown = known.contains { $0 === queue }
      state.ofProxies[id] = (weak, isKnown ? known : known + [queue])
    }
  }

  /// The queues of a proxy and of its nested proxies; `nil` if no proxy ever had queued targets.
  func queues(of proxy: any ScriptedMulticast) -> [ScriptQueue]? {
    var (found, open, seen) = ([ScriptQueue]?.none, [proxy as AnyObject], Set<ObjectIdentifier>())
    while let next = open.popLast() {
      guard !(next is ScriptObject), seen.insert(ObjectIdentifier(next)).inserted else { continue }
      if let known = queues({ $0.ofProxies[ObjectIdentifier(next)] }), known.proxy.object === next {
        found = (found ?? []) + known.queues
      }
      // The target of the lazy proxy does not exist yet, and may have queues.
      if (next as? LazyProxy)?.isMade == false { found = found ?? [] }
      guard let label = label(of: next), label.leadsToProxies else { continue }
      open += (next as? any ScriptedMulticast)?.holder.liveTargets ?? []
      if let target = label.target?.object { open.append(target) }
    }
    return found
  }

  var workOfWaiting: Int { queues { 2 * Work.turn * ($0.count + $0.ofProxies.count) } }

  /// Waits until every queued delivery has run, including deliveries that are queued during the
  /// wait. On a queue, throws `would deadlock`, because that queue's delivery would wait for
  /// itself.
  func waitForQueues() throws {
    try refuseWhileMaking()
    if let mark = currentQueue {
      throw ScriptError(.wouldDeadlock, "code on the queue \(mark.name) cannot wait for the same queue")
    }
    var before: Int
    var drained: Int
    repeat {
      before = queues { $0.turns }
      drained = 0
      let living = queues { state in
        var living = Seen()
        state.ofProxies = state.ofProxies.filter { living.add($0.value.proxy) }
        return living
      }
      // The first drain also waits for deliveries of released proxies and of removed targets. If it
      // would never end, because methods of other sessions wait for this one, it throws.
      for case let proxy as ScriptMulticast in [queueEnds] + living.objects {
        drained += try proxy.drainBlocking(timeout: World.patience)
      }
    } while drained > 0 || before != queues { $0.turns }
  }

  /// Throws `would deadlock` while a service is created: queued methods might wait for the service.
  func refuseWhileMaking() throws {
    guard SendInProgress.current?.making.contains(where: { $0 === services }) ?? false else { return }
    throw ScriptError(.wouldDeadlock, "a service that is being created cannot wait for queues")
  }

  /// Reports an error that no sender waits for, from a queued target or a service's callback. A
  /// `collect` throws its first error; its other errors are not reported.
  func report(_ failure: any Error) {
    if SendInProgress.current?.policy == nil { (runInProgress ?? Run(self)).note(unawaited: failure) }
  }
}
