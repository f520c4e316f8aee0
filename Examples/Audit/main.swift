// main.swift: hooks that time, refuse and change calls of an unchanged service.
// Example: Audit. Run it with `swift run audit`.

import Forwardcast

// The book is called after the vault, and not at all if the vault throws.
let bank = BankProxy(options: MulticastOptions(errors: .stopAtFirst))
let (vault, book) = (Vault(), Book())
bank.add(vault)
bank.add(book)
bank.onError = { print("not done: \($0.error)") }

/// Calls the bank and prints the result.
@MainActor
func withdraw(_ amount: Int, _ account: String) {
  do { print("\(account) gets \(try bank.withdraw(amount, from: account))") } catch {
    print("\(account) gets nothing: \(error)")
  }
}

// Change the result: subtract a fee. The key states the hook's types, so nothing is boxed.
try bank.around(BankProxy.Messages.withdraw) { call in try call.proceed().map { $0 - 1 } }

// Refuse a call: the caller gets the error of a `before` hook, and the vault is not called.
let limit = try bank.before(BankProxy.Messages.withdraw) { amount, account in
  guard amount <= 50 else { throw Refusal(reason: "\(amount) is over the limit") }
}
try bank.before(BankProxy.Messages.close) { account in
  if account == "ann" { throw Refusal(reason: "\(account) stays") }
}

// Time every message. The last installed hook is the outermost one.
var times: [MessageSelector: [Duration]] = [:]
try bank.around { call in
  var answers: [ArgumentBox] = []
  let time = try ContinuousClock().measure { answers = try call.proceed() }
  times[call.invocation.selector, default: []].append(time)
  return answers
}

withdraw(20, "ann")
withdraw(60, "ann")
withdraw(45, "bo")
bank.close("ann")
limit.cancel()
withdraw(60, "ann")

for (selector, times) in times {
  print("\(selector) ended \(times.count) times, \(times.filter { $0 > .seconds(1) }.count) of them slow")
}
withExtendedLifetime((vault, book)) {}

// Prints:
//   book: 20 from ann
// ann gets 19
// ann gets nothing: 60 is over the limit
// bo gets nothing: bo has only 40
// not done: ann stays
//   book: 60 from ann
// ann gets 59
// withdraw:from: ended 2 times, 0 of them slow
