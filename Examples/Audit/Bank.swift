// Bank.swift: a service without any code for audits.

import Forwardcast

@Forwarded
protocol Bank: AnyObject {
  func withdraw(_ amount: Int, from account: String) throws -> Int
  func close(_ account: String)
}

/// Stores the balances.
final class Vault: Bank {
  private var balances = ["ann": 100, "bo": 40]

  func withdraw(_ amount: Int, from account: String) throws -> Int {
    let balance = balances[account, default: 0]
    guard amount <= balance else { throw Refusal(reason: "\(account) has only \(balance)") }
    balances[account] = balance - amount
    return amount
  }

  func close(_ account: String) { balances[account] = nil }
}

/// Prints each call.
final class Book: Bank {
  func withdraw(_ amount: Int, from account: String) -> Int {
    print("  book: \(amount) from \(account)")
    return amount
  }

  func close(_ account: String) { print("  book: \(account) is closed") }
}

struct Refusal: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}
