// Command.swift: reads the arguments and picks what to do.
// Layer: Command. See DESIGN.md, "The script".

import ForwardcastScript

/// What the command ends with.
enum Status: Int32 {
  case success = 0
  /// An expectation or a script failed.
  case failure = 1
  /// A text or the call itself is not right.
  case usage = 2

  /// The worse of the two.
  func worse(_ other: Status) -> Status { rawValue >= other.rawValue ? self : other }
}

/// A call that cannot be understood.
struct UsageError: Error {
  let text: String
}

/// The command line.
enum Command {
  static let version = "0.1.0"

  /// Does what `arguments` say.
  static func run(_ arguments: [String]) -> Status {
    do {
      guard let word = arguments.first else { throw UsageError(text: "nothing to do") }
      let rest = Array(arguments.dropFirst())
      if rest.contains("--help") || rest.contains("-h"), let text = Help.command(word) {
        Stream.output.write(text)
        return .success
      }
      switch word {
      case "run": return try RunCommand(rest).run()
      case "check": return try CheckCommand(rest).run()
      case "repl":
        guard rest.isEmpty else { throw UsageError(text: "repl takes no arguments") }
        return ReplCommand().run()
      case "types":
        guard rest.count == 1 else { throw UsageError(text: "types takes one encoding") }
        return TypesCommand(encoding: rest[0]).run()
      case "help": return try HelpCommand(rest).run()
      case "--help", "-h":
        Stream.output.write(Help.general)
        return .success
      case "--version":
        Stream.output.write("forwardcast \(version)\n")
        return .success
      default: throw UsageError(text: "unknown word \(word)")
      }
    } catch {
      let text = (error as? UsageError)?.text ?? "\(error)"
      Stream.error.write("forwardcast: \(text)\n\(Help.general)")
      return .usage
    }
  }
}

/// A script's text from a file.
struct ScriptFile {
  let name: String
  let text: String

  /// - Throws: ``FileError`` with a whole line for standard error.
  init(_ path: String) throws(FileError) {
    let limit = ScriptSession.textLimit
    let bytes = try readFile(path, limit: limit)
    name = path
    // A text that is too long is refused by the parser, wherever it was cut.
    let valid = bytes.count > limit ? bytes.count : validPrefix(bytes)
    guard valid == bytes.count else {
      let before = String(decoding: bytes[..<valid], as: UTF8.self)
      let lines = before.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let byte = String(bytes[valid], radix: 16, uppercase: true)
      throw FileError(
        text: "\(path):\(lines.count):\((lines.last?.count ?? 0) + 1): error: syntax: the byte 0x\(byte) is not UTF-8")
    }
    text = String(decoding: bytes, as: UTF8.self)
  }
}

/// `forwardcast check FILE…`.
struct CheckCommand {
  private let files: [String]

  init(_ arguments: [String]) throws {
    if let option = arguments.first(where: { $0.hasPrefix("-") && $0 != "-" }) {
      throw UsageError(text: "check has no option \(option)")
    }
    guard !arguments.isEmpty else { throw UsageError(text: "check needs a file") }
    files = arguments
  }

  func run() -> Status {
    var status = Status.success
    for path in files {
      do throws(FileError) {
        let file = try ScriptFile(path)
        guard let error = ScriptSession.check(file.text, named: file.name) else { continue }
        Stream.error.write("\(Style(.error).error("\(error)"))\n")
      } catch {
        Stream.error.write("\(error.line)\n")
      }
      status = .usage
    }
    return status
  }
}

extension FileError {
  /// The error as a line of its own: with the place in the file, or with the command's name.
  var line: String { text.hasPrefix("cannot") ? "forwardcast: \(text)" : text }
}
