// Performance.swift: the code of the page "Performance: what a message costs".
// Layer: Tests.

import Forwardcast
import TestSupport
import Testing

// snippet: performance-keys
extension Message<(Int) -> Void> { static var tick: Self { .init("tick:") } }
// end

@Receiver
private final class Meter {
  var sum = 0
  @Message func tick(_ step: Int) { sum += step }
}

@Suite("Performance")
struct Performance {
  @Test("a burst goes to targets that are held for its time")
  func burst() {
    let meter = Meter()
    let meters = MulticastProxy<any MessageReceiver>()
    meters.add(meter)
    // snippet: performance-pinned
    meters.pinned { held in
      for step in 1...1000 { held.broadcast(.tick, step) }
    }
    // end
    expect(meter.sum, equals: 500_500)
  }
}
