// Till.swift: a message script, and a function that runs it on a schedule.

import ForwardcastScript
import ForwardcastTesting
import Synchronization

/// A script that fills a cart on the queue `shelf` and adds it up on the queue `queue`.
func till(on queue: String) -> String {
  """
  receiver Tea { - price = 3 }
  receiver Cart { - put: item { add item to items } }
  receiver Till { - tell { print "to pay:" collect sum [items price] } }
  proxy items = multicast
  proxy shop = multicast
  queue shelf
  queue desk
  let tea = new Tea
  let cart = new Cart
  let till = new Till
  add cart to shop on shelf
  add till to shop on \(queue)
  [shop put: tea]
  [shop tell]
  """
}

/// Runs a script on a schedule. The order fails if the script prints anything but `expected`.
@Sendable func run(_ text: String, expecting expected: String, _ schedule: Schedule) {
  let printed = Mutex("")
  var handlers = ScriptHandlers(output: { line in printed.withLock { $0 += line } })
  handlers.delivers = { name, within in schedule.queue(name, within: within) }
  let outcome = ScriptSession(handlers: handlers).run(text)
  schedule.expect(outcome.succeeded, "\(outcome)")
  let found = printed.withLock { $0 }
  schedule.expect(found == expected, "printed \(found.debugDescription)")
}
