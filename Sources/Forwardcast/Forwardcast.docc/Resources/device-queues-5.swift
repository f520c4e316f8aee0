import Dispatch
import Forwardcast

@Forwarded
protocol StrapListener: AnyObject, Sendable {
  func strap(heartRate: Int) async
  @Answer(.sum) func stored() async -> Int
}

actor RateStore: StrapListener {
  private var rates: [Int] = []
  func strap(heartRate: Int) { rates.append(heartRate) }
  func stored() -> Int { rates.count }
}

@MainActor final class RateLabel: StrapListener {
  var text = "-"
  func strap(heartRate: Int) { text = "\(heartRate) bpm" }
  func stored() -> Int { 0 }
}

let listeners = StrapListenerProxy()
let (store, label) = (RateStore(), RateLabel())
listeners.add(store)
listeners.add(label)
for rate in [61, 64, 128] { await listeners.strap(heartRate: rate) }

let log = DispatchQueue(label: "log")
listeners.on(
  StrapListenerProxy.Messages.strap, delivery: .queue(log),
  buffer: .keepNewest(100)
) { rate in print("rate \(rate)") }
await listeners.strap(heartRate: 90)  // returns when all have received it
