// Command.swift: parses the command line and runs the subcommand.

import ForwardcastScript

/// The exit status. Of several statuses, the highest is used.
enum Status: Int32 {
  case success = 0
  /// An expectation or a script failed, or output could not be written.
  case failure = 1
  /// A script cannot be read or parsed, or an encoding or the command line is invalid.
  case usage = 2

  func worse(_ other: Status) -> Status { rawValue >= other.rawValue ? self : other }
}

struct UsageError: Error {
  let text: String
  var word: CommandWord?
}

enum Command {
  static let version = "0.2.0"

  static func run(_ arguments: [String]) -> Status {
    // Without this, a write to a closed pipe would end the process instead of failing.
    signal(SIGPIPE, SIG_IGN)
    Stream.reserveClosed()
    let status: Status
    do throws(UsageError) {
      // Otherwise a file would be searched under a name with replacement characters.
      for (index, text) in CommandLine.arguments.enumerated() {
        guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
        throw UsageError(
          text: "the argument \(ShownText.shown(text)) is not UTF-8; "
            + "rename the file, or pass a script as - on standard input")
      }
      status = try perform(arguments)
    } catch {
      // The cause is printed last, next to the prompt.
      Stream.error.write("\(error.word?.usage ?? Help.usage)\nforwardcast: \(error.text)\n")
      status = .usage
    }
    return Stream.isComplete() ? status : status.worse(.failure)
  }

  private static func perform(_ arguments: [String]) throws(UsageError) -> Status {
    let arguments = arguments.first == "--" ? Array(arguments.dropFirst()) : arguments
    guard let first = arguments.first else { throw UsageError(text: "nothing to do") }
    let rest = Array(arguments.dropFirst())
    guard let word = CommandWord.named(first) else { return try performOption(arguments) }
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      Stream.output.write(word.help)
      return .success
    }
    let call = try Arguments(rest, of: word)
    switch word.name {
    case "run": return RunCommand(call: call).run()
    case "check": return check(call.operands)
    case "repl": return Conversation.run()
    case "types": return TypesCommand(encoding: call.operands[0]).run()
    default: return HelpCommand(word: call.operands.first).run()
    }
  }

  private static func check(_ files: [String]) -> Status {
    var status = Status.success
    for path in files {
      if let text = scriptText(path) {
        guard let error = ScriptSession.check(text, named: path) else { continue }
        Stream.error.write("\(Style(.error).error("\(error)"))\n")
      }
      status = .usage
    }
    return status
  }

  private static func performOption(_ arguments: [String]) throws(UsageError) -> Status {
    let call = try Arguments(arguments, of: .general)
    if let word = call.operands.first {
      throw UsageError(text: "unknown subcommand \(ShownText.shown(word))" + Help.hint(CommandWord.like(word)))
    }
    if call.has("--help") {
      Stream.output.write(Help.general)
    } else if let shell = call.value(of: "--generate-completion") {
      Stream.output.write(Completion(shell: shell).text)
    } else {
      Stream.output.write("forwardcast \(version)\n")
    }
    return .success
  }
}
