// Count.swift: an exact amount of work, for tools that count instructions instead of time.

import Forwardcast

/// So many messages of one kind to so many targets.
struct Count {
  let name: String
  let messages: Int
  let targets: Int

  static let names = [
    "typed", "attribute", "attribute-answer", "typed-heap", "strong", "pinned", "pin", "collect", "boxed", "report",
    "responds",
    "responds-somebody", "come-and-go", "add", "remove", "by-hand", "stream", "stream-by-hand",
  ]

  /// How many targets there are to choose from where messages are registrations.
  private static let candidates = 4_096

  func run() throws(OptionError) {
    let sides = Sides(targets)
    let proxy = sides.proxy
    switch name {
    case "typed": for value in 0..<messages { sendTick(proxy, value) }
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
    case "collect": for value in 0..<messages { use(collectAdd(proxy, value, 3)) }
    case "boxed": for value in 0..<messages { broadcastTick(proxy, value) }
    case "report": for value in 0..<messages { use(forwardTick(proxy, value)) }
    case "responds-somebody": for _ in 0..<messages { use(proxy.responds(to: "tick:")) }
    case "come-and-go":
      let guest = makeTargets(1)[0]
      for _ in 0..<messages {
        use(proxy.add(guest))
        use(proxy.remove(guest))
      }
    case "add", "remove":
      // The same targets whatever the number of messages, so that two runs differ by what is counted.
      let all = makeTargets(max(Count.candidates, messages))
      let sideTables = all.map { WeakBox($0) }
      if name == "add" {
        for target in all[..<messages] { proxy.add(target) }
      } else {
        for target in all { proxy.add(target) }
        for target in all[..<messages] { proxy.remove(target) }
      }
      withExtendedLifetime((all, sideTables)) {}
    case "responds": for _ in 0..<messages { use(proxy.responds(to: "pause")) }
    case "stream", "stream-by-hand": streamed(messages, targets, byHand: name == "stream-by-hand")
    case "by-hand": for value in 0..<messages { sides.loop.tick(value) }
    case "strong":
      let strong = MulticastProxy<any Listener>()
      for target in makeTargets(targets) { strong.add(target, ownership: .strong) }
      for value in 0..<messages { sendTick(strong, value) }
    default: throw OptionError(text: "nothing to count is called \(name)")
    }
  }
}
