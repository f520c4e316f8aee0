// Layers.swift: the code of the page "Following a Message".

// snippet: layers-queued
import Dispatch
// end
// snippet: layers-remote
import Distributed
// end
// snippet: layers
import Forwardcast
// end
// snippet: layers-remote
import ForwardcastDistributed
// end
import TestSupport
import Testing

// snippet: layers
@Forwarded
protocol Gauge: AnyObject, Sendable {
  @Answer(.sum) func reading(at hour: Int) throws -> Int
}

final class House: Gauge {
  func reading(at hour: Int) -> Int { hour * 2 }
}
// end

@Suite("Following a Message")
struct LayersGuide {
  @Test("one message is sent typed, boxed, as a query, to a queue, through a hook and to a nested proxy")
  func layers() async throws {
    // snippet: layers
    let (first, second) = (House(), House())
    let meters = GaugeProxy()
    meters.add(first)
    meters.add(second)
    // end

    // snippet: layers-typed
    let total = try meters.reading(at: 3)  // 12
    // end
    expect(total, equals: 12)

    // snippet: layers-boxed
    var call = Invocation("readingAt:", arguments: [ArgumentBox(3)])
    let report = try meters.forward(&call)
    print(report)  // delivered 2, queued 0, failed 0, skipped 0
    // end
    expect("\(report)", equals: "delivered 2, queued 0, failed 0, skipped 0")

    // snippet: layers-asked
    let reading = GaugeProxy.Messages.reading
    let stand = ForwardingProxy(to: meters.multicast)
    let answered = stand.responds(to: reading.selector)  // true: queries meters
    // end
    #expect(answered)

    // snippet: layers-queued
    let remote = House()
    meters.add(remote, delivery: .queue(DispatchQueue(label: "meter")))
    let all = try await meters.collectAndWait(reading, 3, returning: .sum)  // 18
    // end
    expect(all, equals: 18)

    // snippet: layers-hooked
    let fee = try meters.around(
      reading, waiting: { call in try await call.proceed().map { $0 + 1 } })
    let withFee = try await meters.collectAndWait(reading, 3, returning: .sum)
    print(withFee)  // 21: changes each result
    fee.cancel()
    // end
    expect(withFee, equals: 21)

    // snippet: layers-nested
    let towns = GaugeProxy()
    towns.add(meters)
    let nested = try await towns.collectAndWait(reading, 3, returning: .all)
    print(nested)  // [6, 6, 6]
    // end
    expect(nested, equals: [6, 6, 6])

    // snippet: layers-remote
    let door = MessageEndpoint(
      meters, for: GaugeProxy.table,
      actorSystem: LocalTestingDistributedActorSystem())
    let far = try await RemoteReceiver(connectingTo: door, name: "far")
    let country = GaugeProxy()
    country.add(remote: far)
    let there = try await country.collectAndWait(reading, 3, returning: .all)
    print(there)  // [6]: one target, with meters' last result
    // end
    expect(there, equals: [6])
    withExtendedLifetime((first, second, remote)) {}
  }
}
