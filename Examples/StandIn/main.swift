// main.swift: a proxy that logs, refuses and retries messages to a lazily created object.
// Example: StandIn. Run it with `swift run stand-in`.

import Forwardcast

struct Offline: Error {}

/// The object behind the proxy. It fails sometimes, like a network service.
@Receiver
final class Account {
  private var cents = 100
  private var calls = 0

  init() { print("  (account opened)") }

  @Message func balance() throws -> Int {
    calls += 1
    if calls == 1 { throw Offline() }
    return cents
  }
  @Message func withdraw(_ amount: Int) { cents -= amount }
  @Message func close() { print("  closed") }
}

/// Represents any receiver: `forward` gets every message, whatever its selector and types.
final class Guard: ForwardingProxy {
  private let target: any MessageReceiver

  init(for target: any MessageReceiver) {
    self.target = target
    super.init()
  }

  // Returns the target's types. There is no `forwardingTarget`, so no message bypasses `forward`.
  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    target.methodSignature(for: selector)
  }

  override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    if invocation.selector == "close" { throw Refusal(message: "\(invocation)") }
    for attempt in 1... {
      do {
        try target.perform(&invocation)
        print("  \(invocation) -> \(invocation.result.map { "\($0)" } ?? "nothing")")
        break
      } catch  where attempt < 3 { print("  \(invocation) failed, once more") }
    }
    return DeliveryReport(answeredBy: target, invocation.result)
  }
}

struct Refusal: Error, CustomStringConvertible {
  let message: String
  var description: String { "\(message) is refused" }
}

// The account is created by its first message.
let lazy = LazyProxy { Account() }
let account = Guard(for: lazy)
print("made: \(lazy.isMade)")

print("balance \(try account.send(Message<() -> Int>("balance")))")
try account.send(Message<(Int) -> Void>("withdraw:"), 30)
do { try account.send(Message<() -> Void>("close")) } catch { print(error) }
do { try account.send(Message<() -> Void>("audit")) } catch { print(error) }
print("made: \(lazy.isMade)")

// Prints:
// made: false
//   (account opened)
//   balance failed, once more
//   balance -> 100
// balance 100
//   withdraw: 30 -> ()
// close is refused
// unrecognized selector 'audit' of Guard
// made: true
