// Desks.swift: keys and targets for the tests of hooks, streams and diagrams.

import Forwardcast
import TestSupport

extension Message<(String) -> Void> { static var say: Self { .init("say:") } }
extension Message<(Int) -> Int> { static var quote: Self { .init("quote:") } }
extension Message<() -> Int> { static var worth: Self { .init("worth") } }
extension Message<() -> Bool> { static var agrees: Self { .init("agrees") } }
extension Message<(Int, String) -> String> { static var join: Self { .init("join:with:") } }

/// An error thrown by a target or a hook.
struct Refusal: Error, Equatable, CustomStringConvertible {
  var name: String
  var description: String { "refused by \(name)" }
}

/// A target that records its messages.
final class Desk: MessageReceiver, Sendable {
  let name: String
  let worth: Int
  let journal: Journal

  init(_ name: String, worth: Int = 0, _ journal: Journal) {
    (self.name, self.worth, self.journal) = (name, worth, journal)
  }

  static let selectorTable = SelectorTable(for: Desk.self) {
    Responds(to: .say) { desk, text in desk.journal.write("\(desk.name) \(text)") }
    Responds(to: .quote) { desk, amount in
      desk.journal.write("\(desk.name) quotes \(amount)")
      if amount < 0 { throw Refusal(name: desk.name) }
      return amount + desk.worth
    }
    Responds(to: .worth) { desk in
      desk.journal.write("\(desk.name) worth")
      return desk.worth
    }
    Responds(to: .agrees) { desk in
      desk.journal.write("\(desk.name) agrees")
      return desk.worth > 0
    }
    Responds(to: .join) { desk, number, text in "\(desk.name) \(number) \(text)" }
  }
}

/// A proxy for desks that is isolated.
typealias Desks = MulticastProxy<any MessageReceiver>

/// A proxy for desks that any thread may use.
typealias SharedDesks = MulticastProxy<Desk>

extension MulticastProxy where Interface == any MessageReceiver {
  /// A proxy with desks that it retains.
  static func of(_ desks: Desk..., options: MulticastOptions = MulticastOptions()) -> Desks {
    let proxy = Desks(options: options)
    for desk in desks { proxy.add(desk, ownership: .strong) }
    return proxy
  }
}
