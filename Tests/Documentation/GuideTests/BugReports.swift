// BugReports.swift: the code of the page "Repeating a Bug Report in a Test".

// snippet: report-delegate
import Forwardcast
import ForwardcastRecording
import Foundation
// end
import TestSupport
import Testing

// snippet: report-delegate

struct Purchase: Codable, Equatable {
  var item: String
  var cents: Int
}

@Forwarded
protocol BasketDelegate: AnyObject {
  func basketAdded(_ purchase: Purchase)
  @Answer(.sum) func basketTotal() -> Int
}

final class Receipt: BasketDelegate {
  private var purchases: [Purchase] = []
  func basketAdded(_ purchase: Purchase) { purchases.append(purchase) }
  func basketTotal() -> Int { purchases.reduce(0) { $0 + $1.cents } }
}

// end

// snippet: report-receiver
@Receiver
final class Ledger {
  private(set) var cents = 0
  @Message func book(_ cents: Int) { self.cents += cents }
}
// end

@Suite("A bug report's calls in a test")
struct BugReports {
  @Test("the calls of a typed delegate are recorded, decoded and replayed")
  func report() throws {
    // snippet: report-record
    let (receipt, recorder) = (Receipt(), CallRecorder())
    let baskets = BasketDelegateProxy()
    baskets.add(receipt, recordedBy: recorder, as: "receipt")

    baskets.basketAdded(Purchase(item: "tea", cents: 455))
    print(baskets.basketTotal())  // 455
    let report = try JSONEncoder().encode(recorder.recording)
    // end
    expect(baskets.basketTotal(), equals: 455)
    // snippet: report-replay
    let delegate = BasketDelegateProxy()  // first: makes its selectors known
    let fresh = Receipt()
    delegate.add(fresh)

    let decoder = JSONDecoder()
    decoder.userInfo[Invocation.typesKey] = KnownTypes([
      "Purchase": Purchase.self
    ])
    let calls = try decoder.decode(Recording.self, from: report)
    print(calls.outermostCalls.count)  // 2
    let again = try calls.replay(into: delegate)
    print(again.isEqual(to: calls) ?? false)  // true: same outcomes
    // end
    #expect(calls.outermostCalls.count == 2 && again.isEqual(to: calls) == true)
    expect(fresh.basketTotal(), equals: 455)
    let plain = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Recording.self, from: report) }
    let advice = #"unknown type "Purchase"; add it to decoder.userInfo[Invocation.typesKey]"#
    if case .dataCorrupted(let context)? = plain {
      expect(context.debugDescription, equals: advice)
    } else {
      Issue.record("no corrupt data")
    }
    withExtendedLifetime(receipt) {}
  }

  @Test("the messages of a receiver are encoded, decoded and replayed")
  func saving() throws {
    // snippet: report-save
    let ledger = RecordingProxy(of: Ledger(), as: "ledger")
    try ledger.send(Ledger.Messages.book, 455)
    let file = try JSONEncoder().encode(ledger.recorder.recording)

    // When the program runs again:
    let reader = JSONDecoder()
    reader.userInfo[MessageSelector.selectorsKey] = Set(
      Ledger.selectorTable.selectors)
    let loaded = Ledger()
    try reader.decode(Recording.self, from: file).replay(into: loaded)
    print(loaded.cents)  // 455
    // end
    expect(loaded.cents, equals: 455)
  }

  @Test("a recorder keeps the last calls without redacted arguments")
  func redaction() throws {
    let (delegate, fresh) = (BasketDelegateProxy(), Receipt())
    delegate.add(fresh)
    // snippet: report-redact
    let last = CallRecorder(keepingLast: 100)  // drops the oldest calls
    last.redact(BasketDelegateProxy.Messages.basketAdded, arguments: [0])
    let basket = RecordingProxy(of: delegate, as: "basket", into: last)

    let tea = Purchase(item: "tea", cents: 455)
    try basket.send(BasketDelegateProxy.Messages.basketAdded, tea)
    print(last.recording)  // [basket basketAdded: ‹redacted›]

    for call in last.recording.outermostCalls {
      var message = call.message
      message.arguments[0] = ArgumentBox(tea)
      try delegate.perform(&message)
    }
    // end
    expect("\(last.recording)", equals: "[basket basketAdded: ‹redacted›]")
    expect(fresh.basketTotal(), equals: 910)
    #expect(throws: ReplayError.self) { try last.recording.replay(into: delegate) }
  }
}
