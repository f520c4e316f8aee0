// DescriptionTests.swift: the description of a proxy.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Suite("Descriptions of proxies")
struct DescriptionTests {
  let journal = Journal()

  @Test("a proxy describes itself as a table of its targets")
  func table() throws {
    let proxy = SharedDesks()
    proxy.onError = { _ in }
    expect("\(proxy)", equals: "multicast of Desk, 0 targets")
    let (ann, bo) = (Desk("ann", journal), Desk("bo", journal))
    proxy.add(ann, only: ["say:"])
    let queue = DispatchQueue(label: "disk")
    queue.suspend()
    proxy.add(bo, delivery: .queue(queue), buffer: .keepOldest(2))
    proxy.mute(ann)
    for _ in 0..<5 { proxy.broadcast(.worth) }
    try proxy.before(.say) { _ in throw Refusal(name: "guard") }
    proxy.broadcast(.say, "x")
    let lines = "\(proxy)".split(separator: "\n").map(String.init)
    expect(lines[0], equals: "multicast of Desk, 2 targets")
    expect(lines[1].split(separator: " "), equals: ["target", "selectors", "context", "waiting", "dropped"])
    expect(lines[2].hasPrefix("Desk (muted)  only say:") && lines[2].hasSuffix("-"))
    expect(lines[3].contains("5: agrees join:with: quote: …") && lines[3].contains("disk"))
    expect(lines[3].split(separator: " ").suffix(2), equals: ["2", "3"])
    expect(lines[4], equals: "hooks 1")
    expect(lines[5], equals: "last error: 'say:' failed in MulticastProxy<Desk>: refused by guard")
    queue.resume()
    withExtendedLifetime((ann, bo)) {}
  }

  @Test("closures, proxies and forwarding objects are listed with the selectors that they receive")
  func others() {
    let proxy = Desks()
    proxy.on(.say) { _ in }
    proxy.add(Desks(), ownership: .strong)
    proxy.add(ForwardingProxy(to: Desk("ann", journal)), ownership: .strong)
    let text = "\(proxy)"
    expect(text.contains("say:") && text.contains("those of its targets") && text.contains("what it forwards"))
  }
}
