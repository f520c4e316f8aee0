// Rows+First.swift: costs of first messages, of new names, and of proxies with few targets.

import Dispatch
import Forwardcast

extension Bench {
  /// A message to a target that is added and removed, the only message of a proxy, and a new name.
  func firstRows() {
    for n in [0, 10] { visit(n) }
    born()
    names()
  }

  /// Adds a target, sends a message to it and `n` others, and removes it.
  private func visit(_ n: Int) {
    let sides = Sides(n)
    let boxes = WeakDictionary()
    let staying = makeTargets(n)
    for target in staying { boxes.add(target) }
    let guest = makeTargets(1)[0]
    compare(
      "first", "add, message, cancel, among others", n: n, per: "ns", units: 1, goal: nil,
      ours: { count in
        for value in 0..<count {
          let registration = sides.proxy.add(guest)
          sendTick(sides.proxy, value)
          registration.cancel()
        }
      },
      reference: { count in
        for value in 0..<count {
          boxes.add(guest)
          boxes.tick(value)
          boxes.remove(guest)
        }
      })
    withExtendedLifetime(staying) {}
  }

  private func born() {
    let target = makeTargets(1)[0]
    compare(
      "first", "new sender, one target, one message", n: 1, per: "ns", units: 1, goal: nil,
      ours: { count in
        for value in 0..<count {
          let proxy = MulticastProxy<any Listener>()
          proxy.add(target)
          sendTick(proxy, value)
        }
      },
      reference: { count in for value in 0..<count { WeakLoop([target]).tick(value) } })
  }

  /// New names: time and memory of a name, memory of its row, time of its first two messages.
  private func names() {
    let count = isQuick ? 2_000 : 20_000
    guard wants("first", "message of a name", count) else { return }
    let texts = (0..<count).map { "benchmarkedName\($0):" }
    func note(_ name: String, _ value: Double, _ unit: String, _ goal: Double) {
      add(
        Figure(row: "first", name: name, n: count, ours: value, reference: nil, unit: unit, goal: .atMost(goal, unit)))
    }
    /// Nanoseconds and bytes of each operation.
    func measured(_ body: () -> Void) -> (time: Double, bytes: Double) {
      let before = Memory.bytesInUse
      let start = nanoseconds()
      body()
      let time = (nanoseconds() - start) / Double(count)
      guard let before, let after = Memory.bytesInUse else { return (time, .nan) }
      return (time, Double(after - before) / Double(count))
    }
    var names: [MessageSelector] = []
    names.reserveCapacity(count)
    let made = measured { for text in texts { if let name = try? MessageSelector(text) { names.append(name) } } }
    let table = SelectorTable(for: FirstListener.self) { Responds(to: .tick) { target, value in target.tick(value) } }
    let rows = measured {
      for name in names {
        try? table.add(
          Responds(to: Message<(Int) -> Void>(name)) { (target: FirstListener, value: Int) in target.tick(value) })
      }
    }
    let sides = Sides(1)
    func send() { for name in names { sides.proxy.broadcast(Message<(Int) -> Void>(name), 1) } }
    note("message of a name", measured(send).time, "ns", 4_000)
    note("second message of a name", measured(send).time, "ns", 750)
    note("name", made.time, "ns", 1_000)
    note("bytes of a name", made.bytes, "bytes", 100)
    note("bytes of a row", rows.bytes, "bytes", 100)
  }

  /// Bytes of proxies with few targets or none, and of each kind of target.
  func memoryRows() {
    let count = isQuick ? 1_000 : 10_000
    let targets = makeTargets(count)
    let sideTables = targets.map { WeakBox($0) }
    let queue = DispatchQueue(label: "queued")
    func weigh(_ name: String, _ goal: Double, _ keep: () -> Any, byHand: (() -> Any)? = nil) {
      guard wants("memory", name, count) else { return }
      func bytes(_ keep: () -> Any) -> Double? {
        guard let before = Memory.bytesInUse else { return nil }
        let kept = keep()
        defer { withExtendedLifetime(kept) {} }
        return Memory.bytesInUse.map { Double($0 - before) / Double(count) }
      }
      // The first call creates what all of a kind share.
      _ = keep()
      guard let ours = bytes(keep) else { return }
      let reference = byHand.flatMap(bytes)
      add(
        Figure(
          row: "memory", name: name, n: count, ours: ours, reference: reference, unit: "bytes",
          ratio: reference.map { ours / $0 }, goal: .atMost(goal, "bytes")))
    }
    weigh(
      "empty proxy", 256, { targets.map { _ in MulticastProxy<any Listener>() } },
      byHand: { targets.map { _ in WeakLoop([]) } })
    weigh(
      "proxy with a target, after a message", 700,
      {
        targets.map { target in
          let proxy = MulticastProxy<any Listener>()
          proxy.add(target)
          sendTick(proxy, 1)
          return proxy
        }
      }, byHand: { targets.map { WeakLoop([$0]) } })
    func filled(_ add: (MulticastProxy<any Listener>, any Listener) -> Registration) -> Any {
      let proxy = MulticastProxy<any Listener>()
      return (proxy, targets.map { add(proxy, $0) })
    }
    weigh("target, registration kept", 144, { filled { $0.add($1) } })
    weigh(
      "closure, registration kept", 250,
      { filled { proxy, target in proxy.on(.tick) { [weak target] in target?.tick($0) } } })
    weigh("target on a queue, registration kept", 280, { filled { $0.add($1, delivery: .queue(queue)) } })
    withExtendedLifetime(sideTables) {}
  }
}
