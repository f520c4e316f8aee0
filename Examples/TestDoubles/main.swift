// main.swift: a test of the alarm with doubles of its thermometer and phone.
// Example: TestDoubles. Run it with `swift run test-doubles`.

import Forwardcast
import ForwardcastTesting

let temperature = ThermometerProxy.Messages.temperature
let (call, hangUp) = (PhoneProxy.Messages.call, PhoneProxy.Messages.hangUp)

// A test needs no reporter: doubles find Swift Testing or XCTest. This program prints failures.
let printer = TestReporter { print("  line \($0.place.line): \($0.text)") }

let thermometer = TestDouble(ThermometerProxy(), reporter: printer)
let phone = TestDouble(PhoneProxy(), reporter: printer)
let clock = TestClock()
let alarm = Alarm(thermometer: thermometer.proxy, phone: phone.proxy, clock: clock)

print("a boiler that gets hot, breaks its thermometer, and cools down")
thermometer.stub(temperature, "boiler 1").answers(80, 95).fails(Broken()).answers(70)
phone.stub(call, 1, .where("95 degrees") { $0.contains("95") }).fails(Broken())

let watching = Task { try await alarm.watch("boiler 1", rounds: 4) }
for _ in 1...4 {
  await clock.waitForSleepers()  // advance the clock instead of sleeping
  clock.advance(by: .seconds(60))
}
try await watching.value

thermometer.verify(temperature, "boiler 1", times: 4)
verifyOrder(
  phone.call(call, 1, .any), phone.call(call, 2, "boiler 1: 95.0 degrees"), phone.call(hangUp),
  phone.call(call, 1, "boiler 1: inf degrees"), phone.call(hangUp))
print(phone.verifyNoOtherCalls() ? "as expected" : "not as expected")

print("an expectation that does not hold")
phone.verify(call, 2, .any, times: 2)
verifyNever(phone.call(call, .any, .any), after: phone.call(hangUp))

print("a call that nobody thought of")
let strict = TestDouble(PhoneProxy(), .strict, named: "Emergency phone", reporter: printer)
strict.stub(call, 112, .any)
strict.proxy.hangUp()

// Prints:
// a boiler that gets hot, breaks its thermometer, and cools down
// as expected
// an expectation that does not hold
//   line 36: Phone: expected 2 calls of call(2, saying: any), found 1
//   expected                      | actual
//   2 calls: call(2, saying: any) | ✗ call(1, saying: "boiler 1: 95.0 degrees")
//                                 |     argument 0 is 1, expected 2
//                                 | ✓ call(2, saying: "boiler 1: 95.0 degrees")
//                                 | · hangUp()
//                                 | ✗ call(1, saying: "boiler 1: inf degrees")
//                                 |     argument 0 is 1, expected 2
//                                 | · hangUp()
//   line 37: expected no Phone call(any, saying: any) after Phone hangUp(), found 1
//   expected                             | actual
//   Phone hangUp()                       | · Phone call(1, saying: "boiler 1: 95.0 degrees")
//   then no Phone call(any, saying: any) | · Phone call(2, saying: "boiler 1: 95.0 degrees")
//                                        | ✓ Phone hangUp()
//                                        | ✗ Phone call(1, saying: "boiler 1: inf degrees")
//                                        | · Phone hangUp()
// a call that nobody thought of
//   line 40: Emergency phone: unexpected call of hangUp(), for which this strict double has no stub
//   expected               | actual
//   call(112, saying: any) | ✗ hangUp()
