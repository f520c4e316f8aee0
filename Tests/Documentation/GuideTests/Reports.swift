// Reports.swift: the code of the page "Reading Reports and Summaries".

// snippet: reports-protocol
import Forwardcast
// end
import TestSupport
import Testing

// snippet: reports-protocol
@Forwarded
protocol DoorListener: AnyObject {
  func opened(_ door: Int) throws
}

final class Bell: DoorListener {
  struct Broken: Error {}
  let isBroken: Bool
  init(isBroken: Bool = false) { self.isBroken = isBroken }
  func opened(_ door: Int) throws { if isBroken { throw Broken() } }
}
// end

@Suite("Reading Reports and Summaries")
struct Reports {
  @Test("a summary counts outcomes, a report lists them, and an explanation predicts them")
  func outcomes() throws {
    // snippet: reports-use
    let (hall, attic, cellar) = (Bell(), Bell(isBroken: true), Bell())
    let bells = DoorListenerProxy()
    bells.add(hall)
    bells.add(attic)
    bells.add(cellar).mute()
    bells.onError = { print($0) }  // 'opened:' failed in Bell: Broken()

    let opened = DoorListenerProxy.Messages.opened
    let summary = bells.broadcast(opened, 7)
    print(summary)  // delivered 1, queued 0, failed 1, skipped 1

    var message = Invocation(opened.selector, arguments: [ArgumentBox(7)])
    let report = try bells.forward(&message)
    print(report)
    // delivered 1, queued 0, failed 1 (Bell: Broken()), skipped 1 (Bell: muted)

    print(bells.explain(opened))
    // opened: of MulticastProxy<DoorListener>, 2 of 3 registrations
    // target  receives  row or reason      context
    // Bell    yes       the proxy's table  direct
    // Bell    yes       the proxy's table  direct
    // Bell    no        muted              direct
    // end
    expect("\(summary)", equals: "delivered 1, queued 0, failed 1, skipped 1")
    expect("\(report)", equals: "delivered 1, queued 0, failed 1 (Bell: Broken()), skipped 1 (Bell: muted)")
    expect(
      "\(bells.explain(opened))",
      equals: """
        opened: of MulticastProxy<DoorListener>, 2 of 3 registrations
        target  receives  row or reason      context
        Bell    yes       the proxy's table  direct
        Bell    yes       the proxy's table  direct
        Bell    no        muted              direct
        """)
    #expect(report.answers[0].target === hall && report.failures[0].target === attic)
    #expect(report.skipped[0].target === cellar)
    withExtendedLifetime((hall, attic, cellar)) {}
  }

  @Test("a message that a hook withholds is in no count, and a report lists its targets")
  func withheld() throws {
    let bell = Bell()
    let bells = DoorListenerProxy()
    bells.add(bell)
    let opened = DoorListenerProxy.Messages.opened
    try bells.around(opened) { _ in [] }
    let summary = bells.broadcast(opened, 7)
    #expect(summary == BroadcastSummary() && summary.nobodyResponded)
    var message = Invocation(opened.selector, arguments: [ArgumentBox(7)])
    let report = try bells.forward(&message)
    #expect(report.nobodyResponded && report.skipped.map(\.reason) == [.withheld])
    #expect(report.skipped[0].target === bell)
    withExtendedLifetime(bell) {}
  }
}
