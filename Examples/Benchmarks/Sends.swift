// Sends.swift: proxies with targets, and all ways of sending, in functions that are not inlined.

import Forwardcast

/// A proxy and its counterpart, each with its own targets.
struct Sides {
  let proxy = MulticastProxy<any Listener>()
  let loop: WeakLoop
  private let targets: [any Listener]
  /// The proxy's first target.
  var first: any Listener { targets[0] }

  init(_ count: Int, classes: Int = 1) {
    // Created alternately, so that neither side has the better memory.
    let both = makeTargets(2 * count, classes: classes)
    let mine = stride(from: 0, to: both.count, by: 2).map { both[$0] }
    loop = WeakLoop(stride(from: 1, to: both.count, by: 2).map { both[$0] })
    for target in mine { proxy.add(target) }
    targets = both
  }
}

// Not inlined, as in a program that calls from many places.

@inline(never)
func sendTick(_ proxy: MulticastProxy<any Listener>, _ value: Int) { proxy.broadcast(.tick, value) }

@inline(never)
func callTick(_ hearing: HearingProxy, _ value: Int) { hearing.tick(value) }

@inline(never)
func callAdd(_ hearing: HearingProxy, _ first: Int, _ second: Int) -> Int? { hearing.add(first, second) }

@inline(never)
func sendReceive(_ proxy: MulticastProxy<any Listener>, _ payload: Payload) { proxy.broadcast(.receive, payload) }

@inline(never)
func sendRead(_ proxy: MulticastProxy<any Listener>, _ text: String) { proxy.broadcast(.read, text) }

@inline(never)
func sendTick(_ pinned: PinnedMulticast<any Listener>, _ value: Int) { pinned.broadcast(.tick, value) }

@inline(never)
func sendReceive(_ pinned: PinnedMulticast<any Listener>, _ payload: Payload) { pinned.broadcast(.receive, payload) }

@inline(never)
func collectAdd(_ proxy: MulticastProxy<any Listener>, _ first: Int, _ second: Int) -> Int? {
  do {
    return try proxy.collect(.add, first, second, returning: .last)
  } catch {
    return nil
  }
}

/// Too long for the inline storage of a string.
let longText = String(repeating: "forwarded ", count: 4)

@inline(never)
func broadcastTick(_ proxy: MulticastProxy<any Listener>, _ value: Int) {
  proxy.broadcast(Invocation("tick:", arguments: [ArgumentBox(value)]))
}

@inline(never)
func forwardTick(_ proxy: MulticastProxy<any Listener>, _ value: Int) -> Int {
  var invocation = Invocation("tick:", arguments: [ArgumentBox(value)])
  do {
    return try proxy.forward(&invocation).answers.count
  } catch {
    return 0
  }
}
