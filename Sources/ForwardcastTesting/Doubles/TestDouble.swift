// TestDouble.swift: a recording and stubbed proxy for tests.

import Forwardcast
import ForwardcastRecording

/// A stand-in for an object in a test, which records every call and answers as stubbed.
///
///     @Forwarded protocol Store: AnyObject {
///       func load(_ name: String) throws -> String
///       func save(_ name: String, count: Int)
///     }
///     typealias Messages = StoreProxy.Messages
///
///     let store = TestDouble(StoreProxy())  // StoreProxy is any Store
///     store.stub(Messages.load, "a").answers("text")
///     try Cart(store: store.proxy).open("a")
///     store.verify(Messages.save, "a", .where("positive") { $0 > 0 })
///
/// The proxy is one that `@Forwarded` generates, or a `MulticastProxy<any Store>` that conforms by
/// hand. The latter needs a table for its interface to know which messages return nothing. A
/// message without a stub is answered by the real object, if there is one. Otherwise it does
/// nothing, and the answer is that of a proxy without targets: the requirement's `otherwise:`,
/// `nil`, an empty value, or the error `nobodyResponds`. A **strict** double reports such a call as
/// a failure.
///
/// Calls by closure (`broadcast { $0.load("a") }`) are not messages and do not reach doubles. A double is `Sendable` exactly
/// when its proxy is. Doubles share nothing, so tests can run in parallel.
public final class TestDouble<Proxy: MulticastHolding> {
  /// The object for the code under test.
  public let proxy: Proxy
  let target: DoubleTarget<Proxy.Interface>

  /// How a double treats a call without a stub.
  public enum Strictness: Sendable {
    /// It does as little as possible.
    case lenient
    /// The same, and a failure at the line that created the double.
    case strict
    @available(*, deprecated, renamed: "lenient") public static var nice: Self { .lenient }
  }

  /// Makes a double of a proxy, which no other double may use.
  ///
  /// Failures have its name, by default that of the protocol. Those of a strict double are reported
  /// at the line of this call.
  public init(
    _ proxy: Proxy, _ strictness: Strictness = .lenient, named name: String? = nil, reporter: TestReporter = .automatic,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.proxy = proxy
    let type = "\(Proxy.Interface.self)"
    let plain = type.hasPrefix("any ") ? String(type.dropFirst(4)) : type
    let keys = Proxy.self is MulticastProxy<Proxy.Interface>.Type ? nil : "\(Proxy.self).Messages"
    let table = proxy.multicast.interfaceTable
    let book = CallBook(name ?? plain, reporter, SwiftNames(table, keys: keys))
    let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
    target = DoubleTarget(book, table, isStrict: strictness == .strict, at: place)
    proxy.multicast.add(forwarding: target)
  }

  /// The name of the double in failures.
  public var name: String { target.book.name }

  /// Every call so far, in the order in which they began.
  public var calls: [RecordedCall] { target.book.calls }

  /// The calls so far as one value, to print, compare, encode or replay.
  public var recording: Recording { target.book.recorder.recording }

  /// Removes all recorded calls; stubs stay.
  public func forgetCalls() { target.book.recorder.removeAll() }

  // MARK: Stubs

  /// Removes all stubs; calls stay.
  public func removeStubs() { target.stubs.withLock { $0 = [] } }

  /// Passes calls without a stub to a real object, which is retained and replaces an earlier one.
  public func fallsBack(to real: Proxy.Interface) {
    target.rest.removeAll()
    target.rest.add(real, ownership: .strong)
  }
}

extension TestDouble: @unchecked Sendable where Proxy: Sendable {}  // a Sendable proxy; the target has locks

extension TestDouble {
  @available(*, deprecated, renamed: "proxy") public var face: Proxy { proxy }
  @available(*, deprecated, renamed: "Strictness") public typealias Manner = Strictness
}
