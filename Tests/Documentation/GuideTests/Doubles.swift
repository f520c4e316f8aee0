// Doubles.swift: the code of the catalog of ForwardcastTesting.

// snippet: doubles-program
import Forwardcast
// end
// snippet: doubles-use
import ForwardcastTesting
import Testing
// end

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
    do { try mailer.send("due", to: address) } catch {
      try mailer.send("due", to: "office")
    }
  }
}
// end

// snippet: doubles-use
typealias Messages = MailerProxy.Messages

@Test("a mail that bounces goes to the office")
func bounces() throws {
  struct Bounced: Error {}
  let mailer = TestDouble(MailerProxy())
  mailer.stub(Messages.send, .any, "ann").fails(Bounced())

  try Reminder(mailer: mailer.proxy).remind("ann")

  mailer.verify(Messages.send, .any, "office", times: .once)
  let text = Match<String>.where("says due") { $0.contains("due") }
  verifyOrder(
    mailer.call(Messages.pending), mailer.call(Messages.send, text, "ann"))
}
// end

// snippet: doubles-strict
@Test("nothing is sent while too much is pending")
func manyPending() throws {
  let mailer = TestDouble(MailerProxy(), .strict)
  mailer.stub(Messages.pending).answers(12, 3)  // 12 once, then 3
  try Reminder(mailer: mailer.proxy).remind("ann")
  mailer.verify(Messages.send, .any, .any, times: .never)
}
// end

// snippet: doubles-capture
@Test("the text says that something is due")
func text() throws {
  let mailer = TestDouble(MailerProxy())
  let texts = Capture<String>()
  mailer.stub(Messages.send, .captured(by: texts), .any).succeeds()
  try Reminder(mailer: mailer.proxy).remind("ann")
  #expect(texts.values == ["due"])
  #expect(mailer.arguments(of: Messages.send).map(\.1) == ["ann"])
}
// end

// snippet: doubles-clock
@Test("a sleeper wakes when its time has come")
func wakes() async throws {
  let clock = TestClock()
  let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
  await clock.waitForSleepers()
  clock.advance(by: .seconds(60))
  try await sleeper.value  // returns at once: no real time has passed
}
// end

// snippet: doubles-absence
@Test("nobody is reminded within a minute")
func absence() async throws {
  let (mailer, clock) = (TestDouble(MailerProxy()), TestClock())
  mailer.verifyNoCalls()  // fails for any call so far
  let reminder = mailer.call(Messages.send, .any, .any)
  async let quiet = reminder.doesNotCome(within: .seconds(60), on: clock)
  await clock.waitForSleepers()
  clock.advance(by: .seconds(60))
  _ = await quiet  // a call within the minute fails the test
}
// end
