// ExistingProtocols.swift: the code of "Forwarding Existing Protocols", also on the main actor.

// snippet: real-silence
import Forwardcast
// end
// snippet: real-parents
import Foundation
// end
import TestSupport
import Testing

// snippet: real-silence
nonisolated struct Style: Sendable { var isBold = false }

@Forwarded(otherwise: .emptyValues)
nonisolated protocol ListSource: AnyObject {
  func numberOfRows(in section: Int) -> Int
  func title(ofRow row: Int) -> String
  @Answer<Style>(otherwise: .init(isBold: true))
  func style(ofRow row: Int) -> Style
}
// end

// snippet: real-parents
@Forwarded
nonisolated protocol PlayerDelegate: AnyObject {
  func playerDidPlay()
}

@Forwarded(inheriting: (any PlayerDelegate).self)
nonisolated protocol VideoPlayerDelegate: PlayerDelegate {
  func player(didResize width: Int)
}

@Forwarded
nonisolated protocol TransferDelegate: NSObjectProtocol {
  func downloaded(_ count: Int)
}
// end

// snippet: real-copy
// In another module:
nonisolated protocol Downloader: AnyObject {
  func download(_ url: String) throws -> Int
}

// In yours:
@Forwarded(as: (any Downloader).self)
nonisolated protocol Downloads: AnyObject {
  func download(_ url: String) throws -> Int
}

nonisolated final class Mirror: Downloader {
  func download(_ url: String) -> Int { url.count }
}
// end

// snippet: real-overloads
@Forwarded
nonisolated protocol BrokerDelegate: AnyObject {
  func broker(_ id: Int, didSend count: Int)
  func broker(_ id: Int, didFail reason: String)
  var state: Int? { get set }
}
// end

// snippet: real-partial
@Forwarded(otherwise: .emptyValues)
nonisolated protocol RowDelegate: AnyObject {
  func selected(_ row: Int)
  func height(ofRow row: Int) -> Double
}

nonisolated extension RowDelegate {
  func height(ofRow row: Int) -> Double { 0 }
}

nonisolated final class Selection: RowDelegate, PartialTarget {
  static let unimplemented = [RowDelegateProxy.Messages.height.selector]
  var row = 0
  func selected(_ row: Int) { self.row = row }
}
// end

// snippet: real-actors
@globalActor actor Audio { static let shared = Audio() }

@Audio @Forwarded(isolatedTo: Audio.self)
protocol MixerDelegate: AnyObject {
  func mixed(_ level: Int)
}
// end

nonisolated enum Chat {
  struct Message { var text = "" }

  @Forwarded
  nonisolated protocol RoomDelegate: AnyObject {
    func received(_ message: Message)
  }
}

// snippet: real-types
@Forwarded
nonisolated protocol FeedDelegate<Item>: AnyObject {
  associatedtype Item
  func received(_ item: Item)
}
// end

// snippet: real-own
@Forwarded
nonisolated protocol StoreDelegate: AnyObject {
  func saved(_ count: Int)
  @NotForwarded func convert<Value>(_ values: inout [Value])
}

nonisolated extension StoreDelegateProxy {
  func convert<Value>(_ values: inout [Value]) {
    for target in targets { target.convert(&values) }
  }
}
// end

private nonisolated final class Store: StoreDelegate {
  func saved(_ count: Int) {}
  func convert<Value>(_ values: inout [Value]) { values.removeLast() }
}

@Suite("Forwarding Existing Protocols")
struct ExistingProtocols {
  @Test("a requirement without a target returns its empty value")
  func silence() {
    // snippet: real-silence
    let source = ListSourceProxy()
    let rows = source.numberOfRows(in: 0)  // 0
    let style = source.style(ofRow: 0)  // bold
    // end
    #expect(rows == 0 && style.isBold)
  }

  @Test("the proxy of a copy conforms to the original protocol")
  func copy() throws {
    // snippet: real-copy-use
    let mirror = Mirror()
    let downloads = DownloadsProxy()
    downloads.add(mirror)
    let downloader: any Downloader = downloads
    let size = try downloader.download("logo")  // 4
    // end
    expect(size, equals: 4)
    withExtendedLifetime(mirror) {}
  }

  @Test("overloads and setters have keys")
  func keys() {
    // snippet: real-overloads
    let broker = BrokerDelegateProxy()
    var sent = 0
    broker.on(BrokerDelegateProxy.Messages.brokerDidSend) { _, count in
      sent += count
    }
    broker.on(BrokerDelegateProxy.Messages.setState) { state in sent = state ?? 0 }
    broker.broker(1, didSend: 2)
    broker.state = 7
    print(sent)  // 7
    // end
    expect(sent, equals: 7)
  }

  @Test("a partial target does not respond to the requirements that it lists")
  func partial() {
    // snippet: real-partial
    let selection = Selection()
    let list = RowDelegateProxy()
    list.add(selection)
    list.selected(3)
    let asks = list.responds(to: "heightOfRow:")  // false
    // end
    #expect(!asks && selection.row == 3 && list.responds(to: "selected:"))
    list.on(RowDelegateProxy.Messages.height) { _ in 44 }
    #expect(list.responds(to: "heightOfRow:") && list.height(ofRow: 0) == 44)
    expect((try? list.height(ofRow: 0, returning: .all)), equals: [44])
  }

  @Test("nested, refined and generic protocols have proxies")
  func others() {
    let room = Chat.RoomDelegateProxy()
    var heard = ""
    room.on(Chat.RoomDelegateProxy.Messages.received) { heard = $0.text }
    room.received(Chat.Message(text: "a"))
    expect(heard, equals: "a")
    // snippet: real-types
    var texts: [String] = []
    let feed = FeedDelegateProxy<String>()
    feed.on(FeedDelegateProxy<String>.Messages.received) { texts.append($0) }
    let delegate: any FeedDelegate<String> = feed
    delegate.received("b")
    // end
    expect(texts, equals: ["b"])
    let video: any PlayerDelegate = VideoPlayerDelegateProxy()
    video.playerDidPlay()
    #expect((TransferDelegateProxy() as AnyObject) is NSObject)
  }

  @Test("the program implements a requirement that cannot be forwarded")
  func own() {
    let (proxy, stores) = (StoreDelegateProxy(), [Store(), Store()])
    stores.forEach { proxy.add($0) }
    var values = [1, 2, 3]
    (proxy as any StoreDelegate).convert(&values)
    expect(values, equals: [1])
    proxy.saved(1)
    withExtendedLifetime(stores) {}
  }

  @Test("a proxy retains a strong target")
  func temporaries() {
    let rowsOfOne = RowDelegateProxy()
    rowsOfOne.add(Selection(), ownership: .strong)
    expect(rowsOfOne.targets.count, equals: 1)
  }
}
