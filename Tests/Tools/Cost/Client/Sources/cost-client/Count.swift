// Count.swift: sends a number of messages of one kind to a number of targets.

import Dispatch
import Forwardcast
import ForwardcastRecording

struct Count {
  let messages: Int
  let targets: Int

  /// The number of targets to choose from if messages are registrations.
  private static let candidates = 4_096

  func run(_ name: String) throws {
    let words = name.split(separator: ":").map(String.init)
    if words.count == 2 { return try behind(words[0], form: words[1]) }
    let sides = Sides(targets)
    let proxy = sides.proxy
    switch name {
    case "attribute", "attribute-answer":
      let hearing = HearingProxy()
      let targets = makeTargets(targets).compactMap { $0 as? any Hearing }
      for target in targets { hearing.add(target) }
      if name == "attribute" {
        for value in 0..<messages { callTick(hearing, value) }
      } else {
        for value in 0..<messages { use(callAdd(hearing, value, 3)) }
      }
      withExtendedLifetime(targets) {}
    case "typed-heap": for _ in 0..<messages { sendRead(proxy, longText) }
    case "pinned": proxy.pinned { for value in 0..<messages { sendTick($0, value) } }
    case "pin": for value in 0..<messages { proxy.pinned { sendTick($0, value) } }
    case "responds-somebody": for _ in 0..<messages { use(proxy.responds(to: "tick:")) }
    case "come-and-go":
      let guest = makeTargets(1)[0]
      for _ in 0..<messages {
        use(proxy.add(guest))
        use(proxy.remove(guest))
      }
    case "visit":
      let guest = makeTargets(1)[0]
      for value in 0..<messages {
        let registration = proxy.add(guest)
        sendTick(proxy, value)
        registration.cancel()
      }
    case "churn-target", "churn-closure", "churn-hook": try churn(name, proxy)
    case "by-hand-heap": for _ in 0..<messages { sides.loop.read(longText) }
    case "born":
      let all = makeTargets(targets)
      for value in 0..<messages {
        let proxy = MulticastProxy<any Listener>()
        for target in all { proxy.add(target) }
        sendTick(proxy, value)
      }
    case "add", "remove":
      // Both runs create the same targets, so they differ only by the counted messages.
      let all = makeTargets(max(Count.candidates, messages))
      let sideTables = all.map { WeakBox($0) }
      if name == "add" {
        for target in all[..<messages] { proxy.add(target) }
      } else {
        for target in all { proxy.add(target) }
        for target in all[..<messages] { proxy.remove(target) }
      }
      withExtendedLifetime((all, sideTables)) {}
    case "kept-proxy", "kept-sender", "kept-target", "kept-closure", "kept-queued", "kept-row": try keep(name, proxy)
    case "first":
      for number in 0..<messages {
        use(proxy.broadcast(Message<(Int) -> Void>(try MessageSelector("name\(number):")), 1))
      }
    case "responds": for _ in 0..<messages { use(proxy.responds(to: "pause")) }
    case "stream": try stream()
    case "lone", "lone-by-hand": lone(byHand: name != "lone")
    case "by-hand": for value in 0..<messages { sides.loop.tick(value) }
    case "strong":
      let strong = MulticastProxy<any Listener>()
      for target in makeTargets(targets) { strong.add(target, ownership: .strong) }
      for value in 0..<messages { sendTick(strong, value) }
    case "closure", "here", "here-answer", "here-queue": here(name)
    default: send(name, proxy)
    }
  }

  /// Sends messages while a target is added and removed.
  private func churn(_ name: String, _ proxy: MulticastProxy<any Listener>) throws {
    let guest = makeTargets(1)[0]
    for value in 0..<messages {
      let end: () -> Void
      switch name {
      case "churn-target": end = proxy.add(guest, ownership: .strong).cancel
      case "churn-closure": end = proxy.on(.tick) { use($0) }.cancel
      default: end = try proxy.before(.tick) { use($0) }.cancel
      }
      sendTick(proxy, value)
      end()
    }
  }

  /// Sends messages to closures, or to targets whose automatic delivery is on the sender's context.
  private func here(_ name: String) {
    let (proxy, queue) = (MulticastProxy<any Listener>(), DispatchQueue(label: "here"))
    let all = makeTargets(targets)
    for target in all {
      switch name {
      case "closure": proxy.on(.tick) { use($0) }
      case "here": proxy.on(.tick, delivery: .automatic()) { use($0) }
      case "here-answer": proxy.add(target, delivery: .automatic())
      default: proxy.add(target, delivery: .automatic(queue))
      }
    }
    switch name {
    case "here-answer": send("collect", proxy)
    case "here-queue": queue.sync { send("typed", proxy) }
    default: send("typed", proxy)
    }
    withExtendedLifetime(all) {}
  }

  /// Creates a number of objects of one kind that exist until the program ends.
  private func keep(_ name: String, _ proxy: MulticastProxy<any Listener>) throws {
    let targets = makeTargets(Count.candidates)
    // Creates the side tables of weak references beforehand.
    let sideTables = targets.map { WeakBox($0) }
    let queue = DispatchQueue(label: "queued")
    let table = SelectorTable(for: FirstListener.self) { Responds(to: .add) { $0.add($1, $2) } }
    var kept: [AnyObject] = [proxy, queue, sideTables as AnyObject, targets as AnyObject, table as AnyObject]
    kept.reserveCapacity(2 * Count.candidates)
    for target in targets[..<messages] {
      switch name {
      case "kept-proxy": kept.append(MulticastProxy<any Listener>())
      case "kept-sender":
        let sender = MulticastProxy<any Listener>()
        sender.add(target)
        sendTick(sender, 1)
        kept.append(sender)
      case "kept-closure": kept.append(proxy.on(.tick) { [weak target] in target?.tick($0) })
      case "kept-queued": kept.append(proxy.add(target, delivery: .queue(queue)))
      case "kept-row":
        let key = Message<(Int) -> Void>(try MessageSelector("name\(kept.count):"))
        try table.add(Responds(to: key) { (listener: FirstListener, value: Int) in listener.tick(value) })
        kept.append(proxy)
      default: kept.append(proxy.add(target))
      }
    }
    Count.kept = kept
  }

  /// Retains the created objects.
  nonisolated(unsafe) private static var kept: [AnyObject] = []

  /// Sends messages in a form that every proxy has.
  private func send(_ form: String, _ proxy: MulticastProxy<any Listener>) {
    switch form {
    case "typed": for value in 0..<messages { sendTick(proxy, value) }
    case "collect": for value in 0..<messages { use(collectAdd(proxy, value, 3)) }
    case "boxed": for value in 0..<messages { broadcastTick(proxy, value) }
    case "report": for value in 0..<messages { use(forwardTick(proxy, value)) }
    default: fatalError("nothing to count is called \(form)")
    }
  }

  /// Sends messages that also meet something other than direct targets.
  private func behind(_ thing: String, form: String) throws {
    let sides = Sides(targets)
    let (proxy, guest) = (sides.proxy, makeTargets(1)[0])
    let queue = DispatchQueue(label: "queued")
    queue.suspend()
    defer { queue.resume() }
    switch thing {
    case "hook":
      try proxy.before(.tick) { _ in }
      try proxy.before(.add) { _, _ in }
    case "around":
      try proxy.around(.tick) { try $0.proceed() }
      try proxy.around(.add) { try $0.proceed() }
    case "stream":
      // Retained, so that the proxy has a stream, and bounded to one message.
      let ticks = proxy.messages(for: .tick, buffering: .bufferingNewest(1))
      let sums = proxy.messages(for: .add, buffering: .bufferingNewest(1))
      send(form, proxy)
      return withExtendedLifetime((ticks, sums)) {}
    case "trace":
      let file = TraceFile { use($0) }
      let tracing = proxy.trace { file.add($0) }
      send(form, proxy)
      tracing.cancel()
      return file.finish()
    case "steps":
      let tracing = proxy.trace { use($0.step) }
      send(form, proxy)
      return tracing.cancel()
    case "nested":
      let inner = MulticastProxy<any Listener>()
      inner.add(guest)
      proxy.add(inner)
      send(form, proxy)
      return withExtendedLifetime(inner) {}
    case "queued": proxy.add(guest, delivery: .queue(queue))
    case "repeated": proxy.add(sides.first, only: ["tick:", "add:with:"])
    default: fatalError("nothing to be behind of is called \(thing)")
    }
    send(form, proxy)
    withExtendedLifetime(guest) {}
  }

  /// Sends messages each of which wakes its target's queue and arrives before the next.
  private func lone(byHand: Bool) {
    let (proxy, queue, target) = (MulticastProxy<any Listener>(), DispatchQueue(label: "queued"), makeTargets(1)[0])
    proxy.add(target, delivery: .queue(queue))
    let box = WeakBox(target)
    for value in 0..<messages {
      if byHand { queue.async { box.target?.tick(value) } } else { sendTick(proxy, value) }
      queue.sync {}
    }
    withExtendedLifetime(target) {}
  }

  /// Sends messages to a suspended queue that is resumed after the last one, so that the amount of
  /// work does not depend on thread scheduling.
  private func stream() throws {
    let proxy = MulticastProxy<any Listener>()
    let all = makeTargets(targets)
    let queue = DispatchQueue(label: "queued")
    for target in all { proxy.add(target, delivery: .queue(queue)) }
    queue.suspend()
    for value in 0..<messages { sendTick(proxy, value) }
    queue.resume()
    try proxy.drainBlocking(timeout: .seconds(600))
    withExtendedLifetime(all) {}
  }
}

/// Allows a proxy among the targets of another.
extension MulticastProxy: Listener where Interface == any Listener {
  func tick(_ value: Int) { broadcast(.tick, value) }
  func add(_ first: Int, _ second: Int) -> Int { 0 }
  func receive(_ payload: Payload) {}
  func read(_ text: String) {}
  var received: Int { 0 }
}
