// Errors.swift: the code of the page "Errors and Unanswered Messages".

// snippet: errors-protocol
import Forwardcast
// end
import TestSupport
import Testing

// snippet: errors-protocol
@Forwarded
protocol Exporter: AnyObject {
  func export(_ page: String) throws
  func pages(in book: String) throws -> Int
}

final class Printer: Exporter {
  struct OutOfPaper: Error {}
  var paper: Int
  init(paper: Int) { self.paper = paper }
  func export(_ page: String) throws {
    guard paper > 0 else { throw OutOfPaper() }
    paper -= 1
  }
  func pages(in book: String) throws -> Int { paper }
}
// end

@Suite("Errors and Unanswered Messages")
struct Errors {
  @Test("errors of a broadcast go to onError; those of a throwing requirement are thrown")
  func errors() throws {
    // snippet: errors-handler
    let (empty, full) = (Printer(paper: 0), Printer(paper: 9))
    let exporters = ExporterProxy()
    exporters.add(empty)
    exporters.add(full)
    exporters.onError = { print($0) }  // 'export:' failed in Printer: OutOfPaper()

    let summary = exporters.broadcast(ExporterProxy.Messages.export, "cover")
    print(summary.failed)  // 1: only `empty`
    // end
    #expect(summary.failed == 1 && summary.delivered == 1)
    let heard = Heard()
    exporters.onError = { heard.note("\($0)") }
    exporters.broadcast(ExporterProxy.Messages.export, "back")
    expect(heard.lines, equals: ["'export:' failed in Printer: OutOfPaper()"])
    #expect(throws: Printer.OutOfPaper.self) { try exporters.export("cover") }
    withExtendedLifetime((empty, full)) {}
  }

  @Test("an unanswered message is an error only if the call needs an answer")
  func silence() throws {
    // snippet: errors-silence
    let nobody = ExporterProxy()
    let silent = nobody.broadcast(ExporterProxy.Messages.export, "cover")
    print(silent.nobodyResponded)  // true

    do { _ = try nobody.pages(in: "atlas") } catch {
      print(error)  // nobody responds to 'pagesIn:' of MulticastProxy<Exporter>
    }

    let strict = ExporterProxy(options: MulticastOptions(noResponder: .throw))
    do { try strict.export("cover") } catch { print(error) }  // throws as well
    // end
    #expect(silent.nobodyResponded)
    try expect(nobody.pages(in: "atlas", returning: .sum), equals: 0)
    #expect(throws: MessageError.self) { try strict.pages(in: "atlas", returning: .sum) }
    #expect(throws: MessageError.self) { try strict.export("cover") }
    let error = try #require(throws: MessageError.self) { try nobody.pages(in: "atlas") }
    expect("\(error)", equals: "nobody responds to 'pagesIn:' of MulticastProxy<Exporter>")
    expect(error.code, equals: .nobodyResponds)
  }
}
