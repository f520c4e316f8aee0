// Rows+Boxed.swift: messages as values, allocations, and `responds(to:)`.

import Forwardcast

@inline(never)
func broadcastReceive(_ proxy: MulticastProxy<any Listener>, _ payload: Payload) {
  proxy.broadcast(Invocation("receive:", arguments: [ArgumentBox(payload)]))
}

extension Bench {
  /// Messages created at run time: an invocation with boxes for each.
  func boxedRows() {
    for n in sizes {
      let sides = Sides(n)
      let payload = Payload()
      let goal = Goal.by(n, one: .atMost(150, "ns"), (1.5, 1.1, 1))
      compare(
        "boxed", "one Int", n: n, units: n, goal: goal,
        ours: { for value in 0..<$0 { broadcastTick(sides.proxy, value) } },
        reference: { for value in 0..<$0 { sides.loop.tick(value) } })
      compare(
        "boxed", "one object", n: n, units: n, goal: goal,
        ours: { for _ in 0..<$0 { broadcastReceive(sides.proxy, payload) } },
        reference: { for _ in 0..<$0 { sides.loop.receive(payload) } })
      compare(
        "boxed", "one Int, with a report", n: n, units: n, goal: .by(n, one: .atMost(300, "ns"), (2, 1.5, 1.5)),
        ours: { for value in 0..<$0 { use(forwardTick(sides.proxy, value)) } },
        reference: { for value in 0..<$0 { sides.loop.tick(value) } })
    }
  }

  /// The allocations of a message.
  func allocationRows() {
    for n in sizes {
      let sides = Sides(n)
      let payload = Payload()
      count("typed, one Int", n: n, atMost: 0, ours: { sendTick(sides.proxy, $0) }, reference: { sides.loop.tick($0) })
      count(
        "typed, one String", n: n, atMost: 0, ours: { _ in sendRead(sides.proxy, longText) },
        reference: { _ in sides.loop.read(longText) })
      count(
        "typed, last answer", n: n, atMost: 0, ours: { use(collectAdd(sides.proxy, $0, 3)) },
        reference: { use(sides.loop.add($0, 3)) })
      count(
        "boxed, one Int", n: n, atMost: 1, ours: { broadcastTick(sides.proxy, $0) },
        reference: { sides.loop.tick($0) })
      count(
        "boxed, one object", n: n, atMost: 1, ours: { _ in broadcastReceive(sides.proxy, payload) },
        reference: { _ in sides.loop.receive(payload) })
    }
  }

  private func count(
    _ name: String, n: Int, atMost bound: Double, ours: (Int) -> Void, reference: (Int) -> Void
  ) {
    guard wants("allocations", name, n) else { return }
    // The first messages create what later ones reuse.
    for value in 0..<8 {
      ours(value)
      reference(value)
    }
    guard let mine = allocations({ for value in 0..<$0 { ours(value) } }) else { return }
    let theirs = allocations { for value in 0..<$0 { reference(value) } }
    add(
      Figure(
        row: "allocations", name: name, n: n, ours: mine, reference: theirs, unit: "/message", ratio: nil,
        allocations: mine, referenceAllocations: theirs, goal: Goal(quantity: .allocations, bound: bound)))
  }

  /// `responds(to:)`, whose cost must not depend on the number of targets.
  func respondsRows() {
    for n in sizes {
      let sides = Sides(n)
      compare(
        "responds", "somebody does", n: n, per: "ns/call", units: 1, goal: .ratio(0.9),
        ours: { for _ in 0..<$0 { use(responds(sides.proxy, "tick:")) } },
        reference: { for _ in 0..<$0 { use(sides.loop.hasListener()) } })
      compare(
        "responds", "nobody does", n: n, per: "ns/call", units: 1, goal: .atMost(25, "ns"),
        ours: { for _ in 0..<$0 { use(responds(sides.proxy, "pause")) } },
        reference: { for _ in 0..<$0 { use(sides.loop.hasPausing()) } })
    }
  }
}

@inline(never)
private func responds(_ proxy: MulticastProxy<any Listener>, _ selector: MessageSelector) -> Bool {
  proxy.responds(to: selector)
}
