// Answers.swift: the code of the page "Choosing a Return Value".

// snippet: answers-rules
import Forwardcast
// end
import TestSupport
import Testing

// snippet: answers-rules
@Forwarded
protocol DownloadDelegate: AnyObject {
  @Answer(.sum) func bytesLoaded() -> Int
  @Answer(.every) func mayPause() -> Bool
  @Answer(.joined(separator: ", ")) func title() -> String
  @Answer(.max, otherwise: 0) func priority() -> Int
  func progress(of file: String) throws -> Double
  func note() -> String?
}

final class Download: DownloadDelegate {
  struct Unknown: Error {}
  let name: String
  let bytes: Int
  init(_ name: String, bytes: Int) { (self.name, self.bytes) = (name, bytes) }
  func bytesLoaded() -> Int { bytes }
  func mayPause() -> Bool { bytes < 100 }
  func title() -> String { name }
  func priority() -> Int { bytes / 10 }
  func progress(of file: String) throws -> Double {
    guard file == "logo" || bytes < 100 else { throw Unknown() }
    return 0.25
  }
  func note() -> String? { bytes > 20 ? name : nil }
}
// end

// snippet: answers-keys
extension Message<() -> Int> {
  static var votes: Self { .init("votes") }
}
// end

@Suite("Choosing a Return Value")
struct Answers {
  @Test("rules and policies combine the results of all targets")
  func rules() throws {
    // snippet: answers-use
    let logo = Download("logo", bytes: 10)
    let film = Download("film", bytes: 200)
    let downloads = DownloadDelegateProxy()
    downloads.add(logo)
    downloads.add(film)

    print(downloads.bytesLoaded())  // 210
    print(downloads.mayPause())  // false; no target is called after the first false
    print(downloads.title())  // logo, film
    print(try downloads.progress(of: "logo"))  // 0.25, the last answer
    print(try downloads.progress(of: "logo", returning: .all))  // [0.25, 0.25]
    let both = try downloads.progress(of: "logo", returning: .reduce(0) { $0 + $1 })
    print(both)  // 0.5
    let known = try downloads.progress(of: "film", returning: .firstSuccess)
    print(known ?? 0)  // 0.25, from the logo; film would throw
    // end
    expect(downloads.bytesLoaded(), equals: 210)
    expect(known, equals: 0.25)
    #expect(!downloads.mayPause())
    expect(downloads.title(), equals: "logo, film")
    try expect(downloads.progress(of: "logo"), equals: 0.25)
    try expect(downloads.progress(of: "logo", returning: .all), equals: [0.25, 0.25])
    expect(downloads.note(), equals: "film")
    #expect(throws: Download.Unknown.self) { try downloads.progress(of: "film", returning: .all) }
    try expect(downloads.progress(of: "film", returning: .firstSuccess), equals: 0.25)
    downloads.removeAll()
    expect(downloads.bytesLoaded(), equals: 0)
    #expect(downloads.mayPause())
    expect(downloads.priority(), equals: 0)
    #expect(throws: MessageError.self) { try downloads.progress(of: "logo") }
    withExtendedLifetime((logo, film)) {}
  }

  @Test("a custom policy combines results")
  func custom() throws {
    // snippet: answers-custom
    let majority = ReturnPolicy<Int, Bool>(
      from: 0,
      step: { sum, vote in
        sum += vote
        return true  // false ends the message: the result is final
      },
      finish: { $0 > 0 })

    let parties = MulticastProxy<any MessageReceiver>()
    parties.on(.votes) { 3 }
    parties.on(.votes) { -2 }
    let accepted = try parties.collect(.votes, returning: majority)  // true
    // end
    #expect(accepted)
  }
}
