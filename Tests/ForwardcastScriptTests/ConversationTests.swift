// ConversationTests.swift: `forwardcast repl` at a terminal, key by key, and from a pipe.
// Layer: Tests.

import Foundation
import Testing

#if os(macOS) || os(Linux)
  @Suite("The conversation", .serialized)
  struct ConversationTests {
    private func begin(_ folder: Folder, _ environment: [String: String] = [:]) throws -> PseudoTerminal {
      let settings = ["FORWARDCAST_HISTORY": folder.path + "/history", "TERM": "xterm", "NO_COLOR": "1"]
      let terminal = try PseudoTerminal(
        Call.executable(), ["repl"], environment: settings.merging(environment) { $1 })
      try terminal.wait(for: Self.prompt)
      return terminal
    }

    /// The prompt, with the cursor behind it: from here on keys are read one by one.
    private static let prompt = "> \r\u{1B}[2C"

    @Test("lines are edited, recalled, completed and continued, and control-D ends")
    func session() throws {
      let folder = try Folder()
      let terminal = try begin(folder)
      try terminal.press("let kitchen = 41\r", until: "\n")
      try terminal.wait(for: Self.prompt)
      // The last digit is typed before the one that is there.
      try terminal.press("print 1\u{1B}[D2\r", until: "\n21\r\n")
      try terminal.wait(for: Self.prompt)
      // A word and a name are completed.
      try terminal.press("pri\t kit\t\r", until: "\n41\r\n")
      try terminal.wait(for: Self.prompt)
      // The line before the last, its last digit changed.
      try terminal.press("\u{1B}[A\u{1B}[A\u{7F}7\r", until: "\n27\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("[1 add:\r", until: "… \r\u{1B}[2C")
      try terminal.press("2]\r", until: "\n3\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("nobody\u{1}\u{B}\"left\"\r", until: "\n\"left\"\r\n")
      try terminal.wait(for: Self.prompt)
      // An error does not end it.
      try terminal.press("print nobody\r", until: "error: unknown name: nobody\r\nprint nobody\r\n      ^\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("half a line\u{3}", until: "^C\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("[1 add: 2]\r", until: "\n3\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("\u{4}", until: "\r\n")
      #expect(terminal.status == 0)
    }

    @Test("what is running ends at an interrupt, and the session stays")
    func interrupt() throws {
      let terminal = try begin(Folder())
      try terminal.press("let x = 5\r", until: "\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press(
        "print \"begun\"; repeat 9000000000 { repeat 1000000000 { repeat 0 { } } }\r", until: "\nbegun\r\n")
      terminal.interrupt()
      try terminal.wait(for: "limit exceeded: the run was cancelled")
      try terminal.wait(for: Self.prompt)
      try terminal.press("print x\r", until: "\n5\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("\u{4}", until: "\r\n")
      #expect(terminal.status == 0)
    }

    @Test("lines are there again in the next conversation")
    func history() throws {
      let folder = try Folder()
      var terminal = try begin(folder)
      try terminal.press("print \"remembered\"\r", until: "\nremembered\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("\u{4}", until: "\r\n")
      #expect(terminal.status == 0)
      terminal = try begin(folder)
      try terminal.press("\u{1B}[A\r", until: "\nremembered\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":quit\r", until: "\n")
      #expect(terminal.status == 0)
    }

    @Test("commands reset, trace, save and load, and one that is unknown is named")
    func commands() throws {
      let folder = try Folder()
      let terminal = try begin(folder)
      let file = folder.path + "/said.msg"
      try terminal.press("receiver R { - a = 1 }\r", until: "\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("let r = new R\r", until: "\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":trace on\r", until: "\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press("[r a]\r", until: "<R r> is asked a")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":trace off\r", until: Self.prompt)
      try terminal.press(":save \(file)\r", until: Self.prompt)
      try terminal.press(":reset\r", until: Self.prompt)
      try terminal.press("print r\r", until: "error: unknown name: r")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":load \(file)\r", until: Self.prompt)
      try terminal.press("print r\r", until: "\n<R r>\r\n")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":load \(file).none\r", until: "cannot read")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":fly\r", until: "no command :fly; :help lists them")
      try terminal.wait(for: Self.prompt)
      try terminal.press(":help drop\r", until: "drop x\r\n  Forgets a name")
      try terminal.wait(for: Self.prompt)
      try terminal.press("\u{4}", until: "\r\n")
      #expect(terminal.status == 0)
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "receiver R { - a = 1 }\nlet r = new R\n[r a]\n")
    }

    @Test("errors are coloured on a terminal unless NO_COLOR is set")
    func colours() throws {
      let plain = try begin(Folder())
      try plain.press("print nobody\r", until: "repl:1:7: error: unknown name")
      let coloured = try begin(Folder(), ["NO_COLOR": ""])
      try coloured.press("print nobody\r", until: "\u{1B}[1;31merror:\u{1B}[0m unknown name")
    }

    @Test("input from a pipe ends at the first error, with its status")
    func piped() throws {
      let whole = try Call("repl", input: "let a = 1\nprint (a\n)\nprint \"last\" a\n")
      #expect(whole.output == "1\nlast 1\n")
      #expect(whole.errors.isEmpty)
      #expect(whole.status == 0)
      let cases: [(input: String, error: String, status: Int32)] = [
        ("print 1\nprint b\nprint 2", "repl:2:7: error: unknown name: b\n", 1),
        ("print 1\nprint )\nprint 2", "repl:2:7: error: syntax: \")\" closes nothing\n", 2),
        ("print 1\nexpect 1 == 2\nprint 2", "repl:2:1: error: expectation failed: 1 == 2 does not hold\n", 1),
        ("print 1\nprint (", "repl:2:7: error: syntax: \"(\" is never closed\n", 2),
        ("print 1\n:fly\nprint 2", "no command :fly; :help lists them\n", 2),
      ]
      for (input, error, status) in cases {
        let call = try Call("repl", input: input)
        #expect(call.output == "1\n", "\(input)")
        #expect(call.errors.hasPrefix(error), "\(call.errors)")
        #expect(call.errors.split(separator: "error:").count <= 2)
        #expect(call.status == status, "\(input)")
      }
    }
  }
#endif
