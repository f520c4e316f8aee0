// Options.swift: the options of the command line.

struct Options {
  var filter: String?
  var json: String?
  var markdown: String?
  var svg: String?
  var isQuick = false
  var isHelp = false

  static let help = """
    usage: swift run -c release forwardcast-benchmarks [options]

      --filter TEXT   only lines whose row, case or N contains TEXT
      --quick         fewer sizes and shorter batches
      --json FILE     write the figures as a list of objects
      --markdown FILE write the table and its summary as Markdown, with date, system and processor
      --svg FILE      draw cost against N, ours beside the hand-written loop
      --help          this text

    Times are medians of batches that alternate between the library and its counterpart; the ratio is the median of
    the ratios of neighboring batches, ± half their interquartile range. Allocations are those of one message, ours /
    by hand.
    """

  init(_ arguments: [String]) throws(OptionError) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--filter": filter = try Options.value(of: option, &rest)
      case "--json": json = try Options.value(of: option, &rest)
      case "--markdown": markdown = try Options.value(of: option, &rest)
      case "--svg": svg = try Options.value(of: option, &rest)
      case "--quick": isQuick = true
      case "--help", "-h": isHelp = true
      default: throw OptionError(text: "unknown option \(option)")
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(OptionError) -> String {
    guard let value = rest.popFirst() else { throw OptionError(text: "\(option) needs a value") }
    return value
  }
}

/// An invalid command line.
struct OptionError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
