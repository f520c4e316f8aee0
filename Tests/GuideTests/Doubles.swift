// Doubles.swift: the code of the catalog of ForwardcastTesting.
// Layer: Tests.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

// snippet: doubles-program
@Forwarded
protocol Mailer: AnyObject {
  func send(_ text: String, to address: String) throws
  @Answer(otherwise: 0) func pending() -> Int
}

struct Reminder {
  let mailer: any Mailer

  func remind(_ address: String) throws {
    guard mailer.pending() < 10 else { return }
    do { try mailer.send("due", to: address) } catch { try mailer.send("due", to: "office") }
  }
}
// end

@Suite("Testing with doubles")
struct Doubles {
  @Test("a mail that bounces goes to the office")
  func bounces() throws {
    // snippet: doubles-use
    struct Bounced: Error {}
    typealias Messages = MailerProxy.Messages
    let mailer = TestDouble(MailerProxy())
    mailer.stub(Messages.send, .any, "ann").fails(Bounced())

    try Reminder(mailer: mailer.face).remind("ann")

    mailer.verify(Messages.send, .where("names a date") { $0.contains("due") }, "office", times: .once)
    verifyOrder(mailer.call(Messages.pending), mailer.call(Messages.send, .any, "ann"))
    // end
    mailer.verify(Messages.send, .any, .any, times: 2)
  }

  @Test("nothing is sent while too much is pending")
  func pending() throws {
    // snippet: doubles-strict
    let mailer = TestDouble(MailerProxy(), .strict)  // a call without a stub is a failure
    mailer.stub(MailerProxy.Messages.pending).answers(12, 3)  // one after another, the last for ever
    try Reminder(mailer: mailer.face).remind("ann")
    mailer.verify(MailerProxy.Messages.send, .any, .any, times: .never)
    // end
    expect(mailer.face.pending(), equals: 3)
  }

  @Test("a clock stands still until the test moves it")
  func time() async throws {
    // snippet: doubles-clock
    let clock = TestClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(60))
    try await sleeper.value  // no time has passed
    // end
    expect(clock.sleeperCount, equals: 0)
  }

  @Test("what does not come is said with a clock too")
  func absence() async throws {
    // snippet: doubles-absence
    let (mailer, clock) = (TestDouble(MailerProxy()), TestClock())
    mailer.verifyNoCalls()  // not even one that was verified before
    async let quiet = mailer.call(MailerProxy.Messages.send, .any, .any).doesNotCome(within: .seconds(60), on: clock)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(60))
    _ = await quiet  // what came would be a failure of the test
    // end
  }

  @Test("captured arguments and calls can be looked at")
  func captures() throws {
    // snippet: doubles-capture
    let mailer = TestDouble(MailerProxy())
    let texts = Capture<String>()
    mailer.stub(MailerProxy.Messages.send, .captured(by: texts), .any).succeeds()
    try Reminder(mailer: mailer.face).remind("ann")
    print(texts.values)  // ["due"]
    for (text, address) in mailer.arguments(of: MailerProxy.Messages.send) { print(text, "to", address) }
    // end
    expect(texts.values, equals: ["due"])
  }
}
