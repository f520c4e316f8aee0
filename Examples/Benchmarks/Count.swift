// Count.swift: an exact amount of work, for tools that count instructions instead of time.

import Forwardcast

/// So many messages of one kind to so many targets.
struct Count {
  let name: String
  let messages: Int
  let targets: Int

  static let names = [
    "typed", "attribute", "attribute-answer", "typed-heap", "strong", "pinned", "collect", "boxed", "responds",
    "by-hand",
  ]

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
        for value in 0..<messages { use(hearing.add(value, 3)) }
      }
      withExtendedLifetime(targets) {}
    case "typed-heap": for _ in 0..<messages { sendRead(proxy, longText) }
    case "pinned": proxy.pinned { for value in 0..<messages { sendTick($0, value) } }
    case "collect": for value in 0..<messages { use(collectAdd(proxy, value, 3)) }
    case "boxed": for value in 0..<messages { broadcastTick(proxy, value) }
    case "responds": for _ in 0..<messages { use(proxy.responds(to: "pause")) }
    case "by-hand": for value in 0..<messages { sides.loop.tick(value) }
    case "strong":
      let strong = MulticastProxy<any Listener>()
      for target in makeTargets(targets) { strong.add(target, ownership: .strong) }
      for value in 0..<messages { sendTick(strong, value) }
    default: throw OptionError(text: "nothing to count is called \(name)")
    }
  }
}
