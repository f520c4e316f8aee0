// Rows+Churn.swift: a guest joins many targets, a message is sent, and the guest leaves.

import Forwardcast

extension Bench {
  /// A change with a message, compared with the message alone: the cost of the next message after a
  /// change must not depend on the other targets.
  func churnRows() {
    for n in sizes where n > 1 {
      let (sides, guest) = (Sides(n), makeTargets(1)[0])
      let changes: [(name: String, begin: (MulticastProxy<any Listener>) -> () -> Void)] = [
        ("a target comes and goes", { $0.add(guest, ownership: .strong).cancel }),
        ("a closure comes and goes", { $0.on(.tick) { guest.tick($0) }.cancel }),
        (
          "a hook comes and goes",
          { proxy in
            let hook = try? proxy.before(.tick) { guest.tick($0) }
            return { hook?.cancel() }
          }
        ),
      ]
      for change in changes {
        compare(
          "churn", change.name, n: n, per: "ns/message", units: 1, goal: n < 100 ? nil : .ratio(1.3),
          ours: {
            for value in 0..<$0 {
              let end = change.begin(sides.proxy)
              sendTick(sides.proxy, value)
              end()
            }
          },
          reference: { for value in 0..<$0 { sendTick(sides.proxy, value) } })
      }
    }
  }
}
