// RouteTable.swift: selector to route, found without hashing.
// Layer: Targets. See DESIGN.md, "One walk, two loops".

/// The routes of one proxy. A value without locks.
///
/// A selector's record carries its hash, so a look-up is a masked index and, nearly always, one comparison.
struct RouteTable {
  private var slots: ContiguousArray<Route?> = []
  private(set) var count = 0

  /// Every route, in no order.
  var all: [Route] { slots.compactMap { $0 } }

  /// The route of `selector`, current or not.
  func find(_ selector: MessageSelector) -> Route? {
    guard !slots.isEmpty else { return nil }
    return slots[place(of: selector)]
  }

  /// The route of `selector`, current or not, as long as the table keeps it.
  @inline(__always)
  func kept(_ selector: MessageSelector) -> Unmanaged<Route>? {
    guard !slots.isEmpty else { return nil }
    return slots.withUnsafeBytes { slots in
      let routes = slots.assumingMemoryBound(to: Unmanaged<Route>?.self)
      var place = selector.placement & (routes.count - 1)
      while let route = routes[place] {
        if route._withUnsafeGuaranteedRef({ $0.selector == selector }) { return route }
        place = (place + 1) & (routes.count - 1)
      }
      return nil
    }
  }

  /// The slot that holds `selector`, or the empty one where it belongs. There is always an empty one.
  @inline(__always)
  private func place(of selector: MessageSelector) -> Int {
    var place = selector.placement & (slots.count - 1)
    while let route = slots[place], route.selector != selector { place = (place + 1) & (slots.count - 1) }
    return place
  }

  /// Puts a route in its place, and gives the one that stood there.
  mutating func set(_ route: Route) -> Route? {
    if (count + 1) * 2 > slots.count { grow() }
    let place = place(of: route.selector)
    let old = slots[place]
    if old == nil { count += 1 }
    slots[place] = route
    return old
  }

  /// Takes out a route that is mostly useless.
  mutating func remove(_ route: Route) {
    guard find(route.selector) === route else { return }
    let rest = all.filter { $0 !== route }
    slots = ContiguousArray(repeating: nil, count: slots.count)
    count = 0
    for route in rest { _ = set(route) }
  }

  private mutating func grow() {
    let old = slots
    slots = ContiguousArray(repeating: nil, count: max(8, old.count * 2))
    count = 0
    for case let route? in old { _ = set(route) }
  }
}
