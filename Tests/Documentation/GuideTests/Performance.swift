// Performance.swift: the code of the page "Performance: what a message costs".

// snippet: performance
import Forwardcast
// end
import TestSupport
import Testing

// snippet: performance
extension Message<(Int) -> Void> {
  static var tick: Self { .init("tick:") }
}

@Receiver
final class Meter {
  var sum = 0
  @Message func tick(_ step: Int) { sum += step }
}
// end

@Suite("Performance")
struct Performance {
  @Test("a pinned burst retains its targets and reaches all of them")
  func burst() {
    // snippet: performance
    let meter = Meter()
    let meters = MulticastProxy<any MessageReceiver>()
    meters.add(meter)
    meters.pinned { held in
      for step in 1...1000 { held.broadcast(.tick, step) }
    }
    // end
    expect(meter.sum, equals: 500_500)
  }
}
