// Rows+Typed.swift: typed messages to weak and to strong targets.

import Forwardcast

extension Bench {
  /// Typed messages with arguments that need no allocation.
  func typedRows() {
    for n in sizes {
      let goal = Goal.by(n, one: .ratio(1.15), (1, 1, 1))
      for classes in [1, 3] {
        let sides = Sides(n, classes: classes)
        compare(
          "typed", classes == 1 ? "one Int" : "one Int, three classes", n: n, units: n, goal: goal,
          ours: { for value in 0..<$0 { sendTick(sides.proxy, value) } },
          reference: { for value in 0..<$0 { sides.loop.tick(value) } })
      }
      let sides = Sides(n)
      compare(
        "typed", "one Int, beside a loop with a count less", n: n, units: n, goal: goal,
        ours: { for value in 0..<$0 { sendTick(sides.proxy, value) } },
        reference: { for value in 0..<$0 { sides.loop.tickUncounted(value) } })
      let hearing = HearingProxy()
      let targets = makeTargets(n, classes: 3).compactMap { $0 as? any Hearing }
      for target in targets { hearing.add(target) }
      let three = Sides(n, classes: 3)
      compare(
        "typed", "one Int, by attribute, three classes", n: n, units: n, goal: goal,
        ours: { for value in 0..<$0 { callTick(hearing, value) } },
        reference: { for value in 0..<$0 { three.loop.tick(value) } })
      withExtendedLifetime(targets) {}
      compare(
        "typed", "two Int, last answer", n: n, units: n, goal: goal,
        ours: { for value in 0..<$0 { use(collectAdd(sides.proxy, value, 3)) } },
        reference: { for value in 0..<$0 { use(sides.loop.add(value, 3)) } })
    }
  }

  /// The cost of a delivery among very many targets.
  func growthRows() {
    for n in growthSizes {
      let sides = Sides(n)
      compare(
        "growth", "one Int", n: n, units: n, goal: nil, ours: { for value in 0..<$0 { sendTick(sides.proxy, value) } },
        reference: { for value in 0..<$0 { sides.loop.tick(value) } })
    }
  }

  /// Typed messages with an argument on the heap.
  func heapRows() {
    for n in sizes {
      let sides = Sides(n)
      let payload = Payload()
      compare(
        "typed-heap", "one object", n: n, units: n, goal: .by(n, one: .ratio(1.15), (1, 1, 1)),
        ours: { for _ in 0..<$0 { sendReceive(sides.proxy, payload) } },
        reference: { for _ in 0..<$0 { sides.loop.receive(payload) } })
      compare(
        "typed-heap", "one String", n: n, units: n, goal: .by(n, one: .ratio(1.15), (1, 1, 1)),
        ours: { for _ in 0..<$0 { sendRead(sides.proxy, longText) } },
        reference: { for _ in 0..<$0 { sides.loop.read(longText) } })
    }
  }

  /// Typed messages to strong targets, compared with a plain loop.
  func pinnedRows() {
    for n in sizes {
      let targets = makeTargets(n)
      // Targets without weak references, which are cheaper to retain.
      let loop = StrongLoop(makeTargets(n))
      let proxy = MulticastProxy<any Listener>()
      for target in targets { proxy.add(target, ownership: .strong) }
      let payload = Payload()
      let goal = Goal.by(n, one: .atMost(25, "ns"), (3, 2, 2))
      compare(
        "pinned", "strong, one Int", n: n, units: n, goal: goal,
        ours: { for value in 0..<$0 { sendTick(proxy, value) } },
        reference: { for value in 0..<$0 { loop.tick(value) } })
      compare(
        "pinned", "strong, one object", n: n, units: n, goal: goal,
        ours: { for _ in 0..<$0 { sendReceive(proxy, payload) } },
        reference: { for _ in 0..<$0 { loop.receive(payload) } })
      let sides = Sides(n)
      // The proxy is pinned once for a burst, so the route is created once.
      let burst = 1_000
      compare(
        "pinned", "weak, pinned, one Int", n: n, units: burst * n, messages: burst, goal: goal,
        ours: { for _ in 0..<$0 { sides.proxy.pinned { for value in 0..<burst { sendTick($0, value) } } } },
        reference: { for _ in 0..<$0 { for value in 0..<burst { loop.tick(value) } } })
      compare(
        "pinned", "weak, pinned, one object", n: n, units: burst * n, messages: burst, goal: goal,
        ours: { for _ in 0..<$0 { sides.proxy.pinned { for _ in 0..<burst { sendReceive($0, payload) } } } },
        reference: { for _ in 0..<$0 { for _ in 0..<burst { loop.receive(payload) } } })
    }
  }
}
