// ConversationTests.swift: `forwardcast repl` at a terminal, key by key, and from a pipe.

import Foundation
import TestSupport
import Testing

@testable import ForwardcastCommand

#if os(macOS) || os(Linux)
  @Suite("The conversation", .serialized)
  struct ConversationTests {
    private func begin(_ folder: Folder, _ environment: [String: String] = [:]) throws -> PseudoTerminal {
      let settings = ["FORWARDCAST_HISTORY": folder.path + "/history", "TERM": "xterm", "NO_COLOR": "1"]
      let terminal = try PseudoTerminal(
        Call.executable(), ["repl"], environment: settings.merging(environment) { $1 })
      try terminal.wait(for: PseudoTerminal.prompt)
      return terminal
    }

    @Test("lines can be edited, recalled, completed and continued, and control-D ends")
    func session() throws {
      let folder = try Folder()
      let terminal = try begin(folder)
      try terminal.enter("let kitchen = 41\r", until: "\n")
      // Inserts a digit before the existing one.
      try terminal.enter("print 1\u{1B}[D2\r", until: "\n21\r\n")
      // Completes a word and a name.
      try terminal.enter("pri\t kit\t\r", until: "\n41\r\n")
      // Recalls the line before the last and changes its last digit.
      try terminal.enter("\u{1B}[A\u{1B}[A\u{7F}7\r", until: "\n27\r\n")
      try terminal.press("[1 add:\r", until: "… \r\u{1B}[2C")
      try terminal.enter("2]\r", until: "\n3\r\n")
      try terminal.enter("nobody\u{1}\u{B}\"left\"\r", until: "\n\"left\"\r\n")
      // An error does not end the conversation.
      try terminal.enter("print nobody\r", until: "error: unknown name: nobody\r\nprint nobody\r\n      ^\r\n")
      try terminal.enter("half a line\u{3}", until: "^C\r\n")
      try terminal.enter("[1 add: 2]\r", until: "\n3\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("an interrupt ends the running script and keeps the session")
    func interrupt() throws {
      let terminal = try begin(Folder())
      try terminal.enter("let x = 5\r", until: "\n")
      try terminal.press(
        "print \"begun\"; repeat 9000000000 { repeat 1000000000 { repeat 0 { } } }\r", until: "\nbegun\r\n")
      terminal.interrupt()
      try terminal.wait(for: "limit exceeded: the run was canceled")
      try terminal.wait(for: PseudoTerminal.prompt)
      try terminal.enter("print x\r", until: "\n5\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("a signal that ends the program at the prompt restores the terminal", arguments: [SIGINT, SIGTERM])
    func signalAtPrompt(signal: Int32) throws {
      let terminal = try begin(Folder())
      expect(terminal.isRaw)
      terminal.send(signal)
      try terminal.wait(for: "\u{1B}[?2004l")
      expect(terminal.status, equals: signal)
      expect(!terminal.isRaw)
    }

    @Test("the next conversation can recall earlier lines")
    func history() throws {
      let folder = try Folder()
      var terminal = try begin(folder)
      try terminal.enter("print \"remembered\"\r", until: "\nremembered\r\n")
      try expect(terminal.end(), equals: 0)
      terminal = try begin(folder)
      try terminal.enter("\u{1B}[A\r", until: "\nremembered\r\n")
      try terminal.press(":quit\r", until: "\n")
      expect(terminal.status, equals: 0)
    }

    @Test("pasted text keeps its tabs, runs nothing at line breaks, and is one history entry")
    func pasted() throws {
      let folder = try Folder()
      let terminal = try begin(folder)
      let file = folder.path + "/said.msg"
      try terminal.enter("\u{1B}[200~print \"a\tb\"\u{1B}[201~\r", until: "\na\tb\r\n")
      try terminal.press(
        "\u{1B}[200~repeat 2 {\r\n\tprint 7\r}\n\u{1B}[201~", until: "> repeat 2 {↵\\tprint 7↵}↵\r")
      try terminal.enter("\r", until: "\n7\r\n7\r\n")
      try terminal.enter("\u{1B}[A\r", until: "\n7\r\n7\r\n")
      try terminal.press(":save \(file)\r", until: PseudoTerminal.prompt)
      try expect(terminal.end(), equals: 0)
      let again = "repeat 2 {\n\tprint 7\n}\n"
      try expect(String(contentsOfFile: file, encoding: .utf8), equals: "print \"a\tb\"\n\(again)\(again)")
    }

    @Test("an entry of several lines is recalled whole, also in the next conversation")
    func severalLines() throws {
      let folder = try Folder()
      var terminal = try begin(folder)
      try terminal.press("print [1 add:\r", until: "… \r\u{1B}[2C")
      try terminal.enter("2]\r", until: "\n3\r\n")
      try terminal.enter("\u{1B}[A\r", until: "\n3\r\n")
      try expect(terminal.end(), equals: 0)
      terminal = try begin(folder)
      // Changes the digit after the line break.
      try terminal.enter("\u{1B}[A\u{1B}[D\u{7F}5\r", until: "\n6\r\n")
      try terminal.enter("\u{1B}[A\u{1B}[A\u{1B}[A\r", until: "\n3\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("Alt with b, f, d and backspace moves and deletes by words, and with other keys inserts nothing")
    func wordKeys() throws {
      let terminal = try begin(Folder())
      try terminal.enter("print \"one two\"\u{1B}b\u{1B}d2\r", until: "\none 2\r\n")
      try terminal.enter("print \"x\" 5\u{1}\u{1B}f\u{1B}f\u{1B}[Dy\u{1B}[1;5C\u{1B}f\u{1B}\u{7F}\r", until: "\nyx\r\n")
      try terminal.enter("print 12\u{1B}[1;3D0\u{1B}x\u{1B}é\u{1B}[4~3\r", until: "\n123\r\n")
      try terminal.enter("int 8\u{1B}[1~pr\r", until: "\n8\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("Tab completes commands, files for :load and :save, words for :help, and values for :trace")
    func commandCompletions() throws {
      let folder = try Folder()
      _ = try folder.file("kitchen.msg", "print \"loaded\"".utf8)
      _ = try folder.file("kite.msg", "".utf8)
      _ = try folder.file(".hidden", "".utf8)
      let terminal = try begin(folder)
      try terminal.press(":lo\t \(folder.path)/ki\t", until: "/kit\r")
      try terminal.press("\t", until: "\r\nkitchen.msg  kite.msg\r\n")
      try terminal.enter("c\t\r", until: "\nloaded\r\n")
      try terminal.press(":save \(folder.path)/\t", until: "\r\nhistory  kitchen.msg  kite.msg\r\n")
      try terminal.enter("\u{15}:help dr\t\r", until: "\ndrop x\r\n")
      try terminal.press(":trace of\t", until: ":trace off\r")
      try terminal.press("\u{15}:reset \t", until: ":reset \r")
      try terminal.enter("\u{3}", until: "^C\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("a key redraws only the part of a long line near the cursor")
    func longLine() throws {
      let folder = try Folder()
      _ = try folder.file("history", "print \"\(String(repeating: "x", count: 400_000))\"\n".utf8)
      let terminal = try begin(folder)
      let start = ContinuousClock.now
      try terminal.enter("\u{1B}[A" + String(repeating: "\u{1B}[D", count: 200) + "\u{3}", until: "^C\r\n")
      expect(ContinuousClock.now - start < .seconds(15))
      try expect(terminal.end(), equals: 0)
    }

    @Test("typing a line takes linear time")
    func typing() throws {
      try Growing("typing") { count in
        {
          var line = EditedLine()
          for _ in 0..<count { line.take(.text("x")) }
          expect(line.cursor, equals: count)
        }
      }.expectLinear()
    }

    @Test("a repeated line is recalled once, and recall returns to the line that was begun")
    func recalled() throws {
      let terminal = try begin(Folder())
      for text in ["first", "second", "second"] {
        try terminal.enter("print \"\(text)\"\r", until: "\n\(text)\r\n")
      }
      try terminal.enter("\u{1B}[A\u{1B}[A\r", until: "\nfirst\r\n")
      try terminal.enter("print \"be\u{1B}[A\u{1B}[Bgun\"\r", until: "\nbegun\r\n")
      // Control-W deletes a word with the spaces after it.
      try terminal.enter("print \"kept\" junk  \u{17}\r", until: "\nkept\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("characters, words and lines are deleted with the usual keys, and unknown keys change nothing")
    func editing() throws {
      let terminal = try begin(Folder())
      // Delete and control-D delete the character under the cursor, and nothing at the end.
      try terminal.enter("print 1x\u{1B}[D\u{1B}[3~\u{1B}[3~2\r", until: "\n12\r\n")
      try terminal.enter("print 3y\u{2}\u{4}\u{4}4\r", until: "\n34\r\n")
      // Control-F stops at the end, control-B at the beginning; control-U deletes to the beginning.
      try terminal.enter("junk\u{15}print 5\u{1B}[C\u{6}6\r", until: "\n56\r\n")
      try terminal.enter("int 7\u{1B}[H\u{2}pr\r", until: "\n7\r\n")
      // Page up, an unknown escape sequence, and down at the last line.
      try terminal.enter("print\u{1B}[5~\u{1B}OQ\u{1B}[B 8\r", until: "\n8\r\n")
      try terminal.press("print 9", until: "print 9\r\u{1B}[9C")
      try terminal.press("\u{C}", until: "\u{1B}[H\u{1B}[2J\r\u{1B}[K> print 9\r\u{1B}[9C")
      try terminal.enter("\r", until: "\n9\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("an invalid byte does not swallow the next key")
    func lostBytes() throws {
      let terminal = try begin(Folder())
      try terminal.press(Array("print \"".utf8) + [0xE9, 0x22, 0x0D], until: "\n\u{FFFD}\r\n")
      try terminal.wait(for: PseudoTerminal.prompt)
      try expect(terminal.end(), equals: 0)
    }

    @Test("Tab completes the common beginning of several names, and then lists them")
    func completions() throws {
      let terminal = try begin(Folder())
      try terminal.enter("let kitchen = 1; let kite = 2; let kitten = 3\r", until: "\n")
      try terminal.press("print k\t", until: "print kit\r\u{1B}[11C")
      try terminal.press("\t", until: "\r\nkitchen  kite  kitten\r\n\r\u{1B}[K> print kit\r\u{1B}[11C")
      // Names may contain direction characters.
      try terminal.enter("\u{15}let zq\u{202E}b = 1; let zqc = 2\r", until: "\n")
      try terminal.press("zq\t", until: "\r\nzqc  zq\\u{202E}b\r\n")
      try terminal.press("\u{15}print kit", until: "print kit")
      try terminal.press("z\t", until: "print kitz\r\u{1B}[12C")
      try terminal.enter("\u{7F}e\t \t\r", until: "\n2\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("help lists words and commands, and quit ends the conversation")
    func words() throws {
      let terminal = try begin(Folder())
      try terminal.enter(":help\r", until: "  repeat")
      try terminal.enter("?\r", until: ":quit")
      try terminal.enter("quit now\r", until: "error: ")
      try terminal.press("quit\r", until: "\n")
      expect(terminal.status, equals: 0)
    }

    @Test("a history file holds a thousand lines, readable by its owner only, at a given path or in the home folder")
    func historyFile() throws {
      let folder = try Folder()
      let file = try folder.file("history", (1...1000).map { "print \($0)\n" }.joined().utf8)
      var terminal = try begin(folder)
      try terminal.enter("print \"new\"\r", until: "\nnew\r\n")
      try expect(terminal.end(), equals: 0)
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      expect(lines.count == 1000 && lines.first == "print 2" && lines.last == "print \"new\"")
      terminal = try PseudoTerminal(Call.executable(), ["repl"], environment: ["HOME": folder.path])
      try terminal.wait(for: PseudoTerminal.prompt)
      try terminal.enter("print \"home\"\r", until: "\nhome\r\n")
      try expect(terminal.end(), equals: 0)
      let home = folder.path + "/.forwardcast_history"
      try expect(String(contentsOfFile: home, encoding: .utf8), equals: "print \"home\"\n")
      let permissions = try FileManager.default.attributesOfItem(atPath: home)[.posixPermissions] as? Int
      expect(permissions, equals: 0o600)
      // An empty variable turns the history file off.
      terminal = try begin(folder, ["FORWARDCAST_HISTORY": "", "HOME": folder.path + "/none"])
      try terminal.enter("print \"gone\"\r", until: "\ngone\r\n")
      try terminal.enter("\u{1B}[A\r", until: "\ngone\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("of a history file that is too long, the newest entries are kept")
    func longHistory() throws {
      let folder = try Folder()
      let long = "# " + String(repeating: "x", count: 1 << 20)
      let file = try folder.file("history", "print 1\n\(long)\nprint \"newest\"\n".utf8)
      let terminal = try begin(folder)
      try terminal.enter("\u{1B}[A\r", until: "\nnewest\r\n")
      try terminal.enter("print 2\r", until: "\n2\r\n")
      try expect(terminal.end(), equals: 0)
      try expect(String(contentsOfFile: file, encoding: .utf8), equals: "print \"newest\"\nprint 2\n")
    }

    @Test("progress is shown after a second and removed before other output")
    func progress() throws {
      let terminal = try begin(Folder())
      // Each step is slow, so that a second passes long before the run reaches its limits.
      try terminal.press("receiver R { - a = 1 }; let r = new R; proxy p = multicast\r", until: PseudoTerminal.prompt)
      try terminal.press("add r to p; repeat 1000000 { if collect all [p a] == 1 { } }\r", until: "] ")
      try terminal.wait(for: " of 1000000 steps, repl:2:")
      terminal.interrupt()
      try terminal.wait(for: "\r\u{1B}[Krepl:2:")
      try terminal.wait(for: "limit exceeded: the run was canceled")
      try terminal.wait(for: PseudoTerminal.prompt)
      try expect(terminal.end(), equals: 0)
    }

    @Test("control-C ends run like a signal: progress is cleared, the position shown, and the diagram written")
    func interruptedRun() throws {
      let folder = try Folder()
      let name = String(repeating: "n", count: 100) + ".msg"
      let script = try folder.file(name, "print \"begun\"\nrepeat 900000 { repeat 1000000 { repeat 0 { } } }".utf8)
      let drawing = folder.path + "/a.mmd"
      let terminal = try PseudoTerminal(
        Call.executable(), ["run", "--steps", "900000000000", "--diagram", drawing, script, script],
        environment: ["NO_COLOR": "1"])
      try terminal.wait(for: "begun\r\n")
      try terminal.wait(for: " of 900000000000 steps, ")
      // The line fits the width of the screen.
      try terminal.wait(for: "\r\u{1B}[K[")
      terminal.interrupt()
      try terminal.wait(for: "\r\u{1B}[K\(script):2:")
      try terminal.wait(for: "limit exceeded: the run was canceled")
      expect(terminal.status, equals: SIGINT)
      expect(!terminal.screen.contains("steps, \(script):2:"))
      expect(try String(contentsOfFile: drawing, encoding: .utf8).hasPrefix("sequenceDiagram"))
    }

    @Test("commands reset, trace, save and load, and an unknown command is named")
    func commands() throws {
      let folder = try Folder()
      let terminal = try begin(folder)
      let file = folder.path + "/said.msg"
      try terminal.enter("receiver R { - a = 1 }\r", until: "\n")
      try terminal.enter("let r = new R\r", until: "\n")
      try terminal.enter(":trace on\r", until: "\n")
      try terminal.enter("[r a]\r", until: "<R r> is sent a")
      try terminal.press(":trace off\r", until: PseudoTerminal.prompt)
      try terminal.press(":save \(file)\r", until: PseudoTerminal.prompt)
      try terminal.press(":reset\r", until: PseudoTerminal.prompt)
      try terminal.enter("print r\r", until: "error: unknown name: r")
      try terminal.press(":load \(file)\r", until: PseudoTerminal.prompt)
      try terminal.enter("print r\r", until: "\n<R r>\r\n")
      try terminal.enter(":load \(file).none\r", until: "cannot read")
      try terminal.enter(":fly\r", until: "no command :fly; :help lists them")
      try terminal.enter(":help drop\r", until: "drop x\r\n  Forgets a name")
      try terminal.enter("help drop\r", until: "drop x\r\n  Forgets a name")
      try terminal.press("let help = 7\r", until: PseudoTerminal.prompt)
      try terminal.enter("help\r", until: "\n7\r\n")
      try expect(terminal.end(), equals: 0)
      try expect(
        String(contentsOfFile: file, encoding: .utf8), equals: "receiver R { - a = 1 }\nlet r = new R\n[r a]\n")
    }

    @Test("errors are colored on a terminal unless NO_COLOR is set")
    func colours() throws {
      let plain = try begin(Folder())
      try plain.press("print nobody\r", until: "repl:1:7: error: unknown name")
      let coloured = try begin(Folder(), ["NO_COLOR": ""])
      try coloured.press("print nobody\r", until: "\u{1B}[1;31merror:\u{1B}[0m unknown name")
    }

    @Test("Escape alone does nothing and does not swallow the next key")
    func escape() throws {
      let terminal = try begin(Folder())
      try terminal.press("print 4", until: "print 4\r\u{1B}[9C")
      // The line is redrawn once it is clear that no key follows.
      try terminal.press("\u{1B}", until: "print 4\r\u{1B}[9C")
      try terminal.press("2", until: "print 42\r\u{1B}[10C")
      // Keys sent together are an escape and a key, unless they form one key.
      try terminal.enter("\u{1B}\u{1B}[D0\r", until: "\n402\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("the cursor position counts wide and joined characters and escapes as the screen shows them")
    func wideCharacters() throws {
      let terminal = try begin(Folder())
      try terminal.press("print \"", until: "print \"\r\u{1B}[9C")
      try terminal.press("\u{65E5}", until: "\"\u{65E5}\r\u{1B}[11C")
      try terminal.press("e\u{301}", until: "e\u{301}\r\u{1B}[12C")
      try terminal.press("\u{1F469}\u{200D}\u{1F467}", until: "\u{1F469}\u{200D}\u{1F467}\r\u{1B}[14C")
      try terminal.press("\u{FF21}\u{202E}", until: "\u{FF21}\\u{202E}\r\u{1B}[24C")
      // Moves back three characters and deletes one, whatever they consist of.
      try terminal.enter(
        "\u{7F}\u{1B}[D\u{1B}[D\u{1B}[D\u{7F}\u{1B}[F\"\r", until: "\ne\u{301}\u{1F469}\u{200D}\u{1F467}\u{FF21}\r\n")
      try expect(terminal.end(), equals: 0)
    }

    @Test("repl with input from a pipe ends with the status of run, and an error ends it")
    func piped() throws {
      let whole = try Call("repl", input: "let a = 1\nprint (a\n)\nprint \"last\" a\n")
      expect(whole.output, equals: "1\nlast 1\n")
      expect(whole.errors.isEmpty)
      expect(whole.status, equals: 0)
      let cases: [(input: String, error: String, status: Int32)] = [
        ("print 1\nprint b\nprint 2", "repl:2:7: error: unknown name: b\n", 1),
        ("print 1\nprint )\nprint 2", "repl:2:7: error: syntax: unmatched \")\"\n", 2),
        ("print 1\nprint (", "repl:2:7: error: syntax: \"(\" is never closed\n", 2),
        ("print 1\n:fly\nprint 2", "no command :fly; :help lists them\n", 2),
        ("print 1\n:load -\nprint 2", "cannot load -, because the session reads standard input\n", 2),
      ]
      for (input, error, status) in cases {
        let call = try Call("repl", input: input)
        expect(call.output, equals: "1\n", "\(input)")
        expect(call.errors.hasPrefix(error), "\(call.errors)")
        expect(call.errors.split(separator: "error:").count <= 2)
        expect(call.status, equals: status, "\(input)")
      }
    }

    private static let queued = """
      receiver R { - fail { throw "burnt" } - a = 1 }
      let r = new R
      queue q
      proxy p = multicast
      add r to p on q

      """

    @Test(
      "repl with input from a pipe ends like run",
      arguments: [
        "print 1", "expect 1 == 2\nprint 2", "expect 1 == 2\nprint nobody\nprint )", "print nobody\nprint (\n",
        queued + "[p fail]", queued + "expect errors [p fail] == @[\"burnt\"]", "receiver R { }\nreceiver R { }",
        "receiver A { }\n[zz foo]\nreceiver A { }", "receiver A { }\n[zz foo]\nreceiver B { }\nreceiver B { }",
        "repeat 999999 { }\nlet x = 1\nlet x = 2", "print selector \"a b\"",
        "if false { print 1 }\n\n# no\nelse { print 2 }\nprint 3", "if true { }\nprint 1\n",
        "if false { }\nelse {\nprint 3 }", "print nobody\nprint @[\n)", "let x = 1\nif x == 1 { print x }",
        "receiver R { - a = [self a] }\n[new R a]", "print \"\u{FFFD}\"", "\u{FEFF}print 1", "print 1\n\u{FEFF}",
      ])
    func asRun(text: String) throws {
      let (run, piped) = (try Call("run", "-", input: text), try Call("repl", input: text))
      expect(piped.status, equals: run.status)
      // A malformed script runs nothing, while line by line the preceding lines have run.
      if run.status < 2 { expect(piped.output, equals: run.output) }
      expect(piped.errors.isEmpty, equals: run.errors.isEmpty)
    }

    @Test("an if without an else runs before a command that follows it")
    func commandBehindIf() throws {
      let call = try Call("repl", input: "if true { print 1 }\n:trace off\nprint 2\n")
      expect(call.output == "1\n2\n" && call.errors.isEmpty && call.status == 0)
    }

    @Test("bytes that are not UTF-8 are refused with their position, as in a file")
    func invalidText() throws {
      let input = Data("print 1\nprint \"é".utf8) + Data([0xFF, 0x22, 0x0A]) + Data("print 2\n".utf8)
      let call = try Call(["repl"], input: input)
      expect(call.output, equals: "1\n")
      expect(
        call.errors, equals: "repl:2:9: error: syntax: the byte 0xFF is not UTF-8\nprint \"é\u{FFFD}\"\n        ^\n")
      expect(call.status, equals: 2)
      // A line of over 16 MiB is cut within a character.
      guard Bounds.areFull else { return }
      let long = try Call("repl", input: "print \"x" + String(repeating: "é", count: 8 << 20) + "\"\n")
      expect(long.errors.hasPrefix("repl:1:1: error: limit exceeded: the text exceeds 16 MiB\n") && long.status == 2)
    }

    @Test("a script run by :load determines the exit status")
    func loaded() throws {
      let folder = try Folder()
      func status(_ text: String) throws -> Int32 {
        let file = try folder.file("a.msg", text.utf8)
        return try Call("repl", input: ":load \(file)\nprint 1\n").status
      }
      try expect(status("print 2"), equals: 0)
      try expect(status("expect 1 == 2"), equals: 1)
      try expect(status(Self.queued + "[p fail]"), equals: 1)
      try expect(status("print nobody"), equals: 1)
      try expect(status("print )"), equals: 2)
      try expect(Call("repl", input: ":load \(folder.path)/none\n").status, equals: 2)
      try expect(Call("repl", input: ":save \(folder.path)/none/x\nprint 1\n").status, equals: 1)
    }
  }
#endif
