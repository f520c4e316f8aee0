// RunningTest.swift: the test library whose test is running.

import Forwardcast

#if canImport(Testing)
  import Testing
#endif

/// Tells failures to the test library whose test is running.
enum RunningTest {
  static func report(_ failure: TestFailure) {
    if let schedule = Schedule.current { return schedule.world.fail(failure.text, at: failure.place) }
    #if canImport(Testing)
      if Test.current != nil { return recordIssue(failure) }
    #endif
    // On a thread or a task of its own a failure does not know its test. Each library takes what happens while one of its
    // tests runs, and passes over the rest.
    if let fail = XCTestFailing.shared {
      fail.call(failure.text, failure.place.path, failure.place.line)
    } else {
      StandardError.write("\(failure)\n")
    }
    #if canImport(Testing)
      recordIssue(failure)
    #endif
  }

  #if canImport(Testing)
    private static func recordIssue(_ failure: TestFailure) {
      let place = failure.place
      Issue.record(
        Comment(rawValue: failure.text),
        sourceLocation: SourceLocation(
          fileID: place.fileID, filePath: place.filePath, line: Int(place.line), column: Int(place.column)))
    }
  #endif
}

/// XCTest's own function for failures, found in the running process: linking XCTest would force it, and Foundation, on
/// everybody.
private struct XCTestFailing: Sendable {
  /// In a struct, so that the function is called as it was compiled and not through a generic form.
  let call: @Sendable (_ message: String, _ file: StaticString, _ line: UInt) -> Void

  static let shared: XCTestFailing? = {
    // XCTest.XCTFail(_: String, file: StaticString, line: UInt)
    let name = "$s6XCTest7XCTFail_4file4lineySS_s12StaticStringVSutF"
    guard let address = systemSymbol(name) else { return nil }
    // A function value is its address and a context, of which a global function has none.
    let parts: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) = (address, nil)
    return unsafeBitCast(parts, to: XCTestFailing.self)
  }()
}
