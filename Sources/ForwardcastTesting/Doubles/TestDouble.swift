// TestDouble.swift: a proxy with a recorder and stubs.

import Forwardcast
import ForwardcastRecording

/// A proxy that stands for an object in a test: it keeps every call, and answers as the test says.
///
///     @Forwarded protocol Store: AnyObject {
///       func load(_ name: String) throws -> String
///       func save(_ name: String, count: Int)
///     }
///     typealias Messages = StoreProxy.Messages
///
///     let store = TestDouble(StoreProxy())  // StoreProxy is any Store
///     store.stub(Messages.load, "a").answers("text")
///     try Cart(store: store.face).open("a")
///     store.verify(Messages.save, "a", .where("positive") { $0 > 0 })
///
/// The proxy is one that `@Forwarded` wrote, or a `MulticastProxy<any Store>` that was made to conform by hand; one without a
/// table for its interface does not know which messages return nothing. A message that no stub is for is answered by the real
/// object, where there is one; else it does nothing and is answered with what the proxy gives when nobody responds: the
/// requirement's `otherwise:`, `nil`, an empty value, or the error `nobodyResponds`. A **strict** double makes such a call a
/// failure.
///
/// Calls by closure (`broadcast { $0.load("a") }`) are no messages and reach no double. A double is `Sendable` exactly when
/// its proxy is; each has calls and stubs of its own, so tests that run at the same time do not meet.
public final class TestDouble<Face: MulticastHolding> {
  /// What the code under test is given.
  public let face: Face
  let target: DoubleTarget<Face.Interface>

  /// What a double does with a call that no stub is for.
  public enum Manner: Sendable {
    /// The least that is possible, without a word.
    case nice
    /// The same, and a failure at the line that made the double.
    case strict
  }

  /// Makes a double of a proxy, one of its own for each double.
  ///
  /// Failures call it by its name, that of the protocol unless given. Those of a strict double are reported at the line of this
  /// call.
  public init(
    _ face: Face, _ manner: Manner = .nice, named name: String? = nil, reporter: TestReporter = .automatic,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.face = face
    let type = "\(Face.Interface.self)"
    let plain = type.hasPrefix("any ") ? String(type.dropFirst(4)) : type
    let keys = Face.self is MulticastProxy<Face.Interface>.Type ? nil : "\(Face.self).Messages"
    let table = face.multicast.interfaceTable
    let book = CallBook(name ?? plain, reporter, SwiftNames(table, keys: keys))
    let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
    target = DoubleTarget(book, table, isStrict: manner == .strict, at: place)
    face.multicast.add(forwarding: target)
  }

  /// The name that failures call the double by.
  public var name: String { target.book.name }

  /// Every call so far, in the order in which they began.
  public var calls: [RecordedCall] { target.book.calls }

  /// The calls so far as one value: to print, compare, write down or replay.
  public var recording: Recording { target.book.recorder.recording }

  /// Forgets all calls; stubs stay.
  public func forgetCalls() { target.book.recorder.removeAll() }

  // MARK: Stubs

  /// Removes all stubs; calls stay.
  public func removeStubs() { target.stubs.withLock { $0 = [] } }

  /// Gives calls that no stub answers to a real object, which is kept alive, in place of another one that was.
  public func fallsBack(to real: Face.Interface) {
    target.rest.removeAll()
    target.rest.add(real, ownership: .strong)
  }
}

extension TestDouble: @unchecked Sendable where Face: Sendable {}  // the proxy is Sendable, the target has locks
