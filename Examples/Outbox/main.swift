// main.swift: messages are stored as data while there is no receiver, and sent later.
// Example: Outbox. Run it with `swift run outbox`.

import Forwardcast
import ForwardcastCoding
import Foundation

extension Message<(String, Int) -> Bool> { static var order: Self { .init("order:count:") } }
extension Message<(String) -> Void> { static var cancel: Self { .init("cancel:") } }

/// The receiver of the orders.
@Receiver
final class Shop {
  @Message("order:count:") func order(_ item: String, count: Int) -> Bool {
    print("  shop: \(count) \(item)")
    return count < 10
  }
  @Message func cancel(_ item: String) { print("  shop: no \(item)") }
}

/// Represents the shops and stores messages that reach none. A stored value cannot be changed.
final class Outbox: ForwardingProxy {
  private(set) var kept: [Invocation] = []
  /// Throws if no shop responds, so that the message can be stored.
  let shops = MulticastProxy<any MessageReceiver>(options: MulticastOptions(noResponder: .throw))

  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    Shop.selectorTable.signature(for: selector)
  }

  override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    do { return try shops.forward(&invocation) } catch let error as MessageError where error.code == .nobodyResponds {
      kept.append(invocation)
      return DeliveryReport(answeredBy: self)
    }
  }
}

let outbox = Outbox()
var later = Invocation("order:count:", arguments: [ArgumentBox("tea"), ArgumentBox(2)])
try outbox.perform(&later)
// A change after the send does not affect the stored copy.
later.arguments[1] = ArgumentBox(12)
try outbox.perform(&later)
try outbox.send(.cancel, "cups")
print("kept:")
for call in outbox.kept { print("  \(call)") }

// Encodes the messages, for the next run of the program. Decoding creates no unlisted types.
let data = try JSONEncoder().encode(outbox.kept)
let read = try JSONDecoder().decode([Invocation].self, from: data)

print("sent:")
let shop = Shop()
outbox.shops.add(shop)
for var call in read {
  try outbox.perform(&call)
  if call.selector == "order:count:" { print("  accepted: \(try call.result?.unbox(as: Bool.self) ?? false)") }
}

// Prints:
// kept:
//   order: "tea" count: 2
//   order: "tea" count: 12
//   cancel: "cups"
// sent:
//   shop: 2 tea
//   accepted: true
//   shop: 12 tea
//   accepted: false
//   shop: no cups
