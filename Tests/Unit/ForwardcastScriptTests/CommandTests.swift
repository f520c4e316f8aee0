// CommandTests.swift: the command `forwardcast` as run from a shell.

import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
  /// A finished call of the command.
  struct Call {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the command that was built with the tests.
    init(_ arguments: String..., input: String = "") throws { try self.init(arguments, input: Data(input.utf8)) }

    /// - Parameter output: receives standard output; `nil` reads it from a pipe.
    init(_ arguments: [String], input: Data = Data(), to output: FileHandle? = nil) throws {
      let process = Process()
      process.executableURL = try Self.executable()
      process.arguments = arguments
      let (given, printed, complained) = (Pipe(), Pipe(), Pipe())
      process.standardInput = given
      process.standardOutput = output ?? printed.fileHandleForWriting
      process.standardError = complained
      // A command that ends without reading its input must not end the tests.
      signal(SIGPIPE, SIG_IGN)
      try process.run()
      try printed.fileHandleForWriting.close()
      try? given.fileHandleForWriting.write(contentsOf: input)
      try given.fileHandleForWriting.close()
      self.output = String(decoding: try printed.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      errors = String(decoding: try complained.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      status = process.terminationStatus
    }

    /// The output of a bash program.
    static func shell(_ program: String) throws -> String {
      let (process, printed) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["-c", program]
      process.standardOutput = printed
      try process.run()
      let output = try printed.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: output, as: UTF8.self)
    }

    static func executable() throws -> URL {
      var folder = Bundle.main.bundleURL
      for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
        folder = bundle.bundleURL.deletingLastPathComponent()
      }
      for folder in [folder, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()] {
        let file = folder.appendingPathComponent("forwardcast")
        if FileManager.default.isExecutableFile(atPath: file.path) { return file }
      }
      throw CocoaError(.fileNoSuchFile)
    }
  }

  /// A temporary folder that its owner's release deletes.
  final class Folder {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("forwardcast-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path }

    func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
      let file = url.appendingPathComponent(name)
      try Data(bytes).write(to: file)
      return file.path
    }
  }

  @Suite("The command")
  struct CommandTests {
    @Test("run prints to standard output, and errors with their position to standard error")
    func run() throws {
      let folder = try Folder()
      let good = try folder.file("good.msg", "print 1\nexpect 1 == 1".utf8)
      let call = try Call("run", good)
      expect(call.output, equals: "1\n")
      expect(call.errors.isEmpty)
      expect(call.status, equals: 0)

      let failing = try folder.file("failing.msg", "expect 1 == 2\nprint 2".utf8)
      let failed = try Call("run", failing)
      expect(failed.output, equals: "2\n")
      expect(
        failed.errors, equals: "\(failing):1:1: error: expectation failed: 1 == 2 does not hold\nexpect 1 == 2\n^\n")
      expect(failed.status, equals: 1)

      let broken = try folder.file("broken.msg", "print 1\nprint )".utf8)
      let refused = try Call("run", broken)
      expect(refused.output.isEmpty)
      expect(refused.errors, equals: "\(broken):2:7: error: syntax: unmatched \")\"\nprint )\n      ^\n")
      expect(refused.status, equals: 2)
    }

    @Test("an observer's error that a script expects is not printed")
    func pointErrors() throws {
      let text = """
        receiver R { - take: x = nil; - fail throws "failed" }
        let o = new R; let p = new R
        extension X { take: fail }
        register o in X; register p in X
        expect collect any [X take: 1] throws "type mismatch"
        expect collect all [X fail] throws "failed"
        """
      let call = try Call("run", "-", input: text)
      expect(call.errors, equals: "")
      expect(call.status, equals: 0)
    }

    @Test("run runs each of several files in its own session and ends with the highest status")
    func several() throws {
      let folder = try Folder()
      let first = try folder.file("a.msg", "let x = 1\nprint x".utf8)
      let second = try folder.file("b.msg", "print x".utf8)
      let third = try folder.file("c.msg", "print )".utf8)
      let call = try Call("run", first, second, first)
      expect(call.output, equals: "1\n1\n")
      expect(call.errors.contains("b.msg:1:7: error: unknown name: x"))
      expect(call.status, equals: 1)
      try expect(Call("run", third, second).status, equals: 2)
      try expect(Call("check", first, second).status, equals: 0)
      try expect(Call("check", first, third, second).status, equals: 2)
    }

    @Test("--diagram draws the messages of all files into one diagram, in the format of its file extension")
    func diagram() throws {
      let folder = try Folder()
      let text = "receiver Cook { - minutes = 20 }\nlet ann = new Cook\nproxy k = multicast\nadd ann to k\n[k minutes]"
      let script = try folder.file("a.msg", text.utf8)
      let (mermaid, drawing) = (folder.path + "/out.mmd", folder.path + "/out.svg")
      let call = try Call("run", script, "--diagram", mermaid)
      expect(call.status == 0 && call.errors == "")
      let written = try String(contentsOfFile: mermaid, encoding: .utf8)
      expect(
        written,
        equals: """
          sequenceDiagram
            participant p1 as script
            participant p2 as #60;multicast k#62;
            participant p3 as #60;Cook ann#62;
            p1->>p2: minutes
            p2->>p3: minutes
            p3-->>p2: 20
            p2-->>p1: 20

          """)
      try expect(Call("run", script, "--diagram", drawing).status, equals: 0)
      let svg = try String(contentsOfFile: drawing, encoding: .utf8)
      expect(svg.hasPrefix("<svg ") && svg.contains("&lt;Cook ann&gt;"))
      let failed = try Call("run", script, "--diagram", folder.path + "/none/out.mmd")
      expect(failed.status == 1 && failed.errors.hasPrefix("forwardcast: cannot write "))
    }

    @Test("--trace-file writes a slice for each message and each delivery, in named lanes")
    func traceFile() throws {
      struct Entry: Decodable {
        let name: String
        let ph: String
        let tid: Int
        let dur: Double?
        let id: Int?
        let args: [String: String]?
      }
      let folder = try Folder()
      let script = try folder.file(
        "a.msg",
        "receiver Cook { - minutes = 20 }\nlet ann = new Cook\nlet bo = new Cook\nqueue disk\nproxy k = multicast\nadd ann to k\nadd bo to k on disk\n[k minutes]\nwait"
          .utf8)
      let path = folder.path + "/out.json"
      let call = try Call("run", script, "--trace-file", path)
      expect(call.status == 0 && call.errors == "")
      let entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: URL(filePath: path)))
      let slices = entries.filter { $0.ph == "X" }
      let names = Dictionary(entries.filter { $0.ph == "M" }.map { ($0.tid, $0.args?["name"] ?? "") }) { first, _ in
        first
      }
      let lanes = Dictionary(slices.map { ($0.args?["receiver"] ?? "", names[$0.tid] ?? "none") }) { first, _ in first }
      expect(Set(lanes.keys), equals: ["<multicast k>", "<Cook ann>", "<Cook bo>"])
      expect(lanes["<Cook bo>"] == "queue disk" && lanes["<Cook ann>"] == lanes["<multicast k>"])
      expect(slices.allSatisfy { $0.name == "minutes" && $0.args?["outcome"] == nil })
      let (begun, ended) = (entries.filter { $0.ph == "s" }.map(\.id), entries.filter { $0.ph == "f" }.map(\.id))
      expect(begun.count == 1 && begun == ended && begun != [nil], "an arrow leads to the turn that was queued")
      let failed = try Call("run", script, "--trace-file", folder.path + "/none/out.json")
      expect(failed.status == 1 && failed.errors.hasPrefix("forwardcast: cannot write "))
    }

    @Test("lines that two queues print stay whole, however long they are")
    func wholeLines() throws {
      let text = """
        receiver W { - say: t { repeat 20 { print t } } }
        let v = new W; let w = new W
        let a = "aaaaaaaa"; let b = "bbbbbbbb"
        \(String(repeating: "let a = [a appending: a]; let b = [b appending: b]\n", count: 14))
        queue q; queue r
        proxy p = multicast; add v to p on q
        proxy o = multicast; add w to o on r
        [p say: a]; [o say: b]
        """
      let call = try Call("run", "-", input: text)
      let lines = call.output.utf8.split(separator: UInt8(ascii: "\n"))
      expect(lines.count, equals: 40)
      expect(lines.allSatisfy { line in line.count == 8 << 14 && line.allSatisfy { $0 == line.first } })
    }

    @Test("control-C ends a run that reads standard input")
    func interruptedReading() throws {
      let folder = try Folder()
      let process = Process()
      process.executableURL = try Call.executable()
      process.arguments = try ["run", folder.file("first.msg", "print \"begun\"".utf8), "-"]
      let (given, printed, complained) = (Pipe(), Pipe(), Pipe())
      (process.standardInput, process.standardOutput, process.standardError) = (given, printed, complained)
      try PseudoTerminal.withInterrupts { try process.run() }
      try expect(printed.fileHandleForReading.read(upToCount: 6), equals: Data("begun\n".utf8))
      kill(process.processIdentifier, SIGINT)
      // Input after the signal is not run.
      signal(SIGPIPE, SIG_IGN)
      try? given.fileHandleForWriting.write(contentsOf: Data("print 1\n".utf8))
      try? given.fileHandleForWriting.close()
      process.waitUntilExit()
      expect(process.terminationStatus, equals: SIGINT)
      try expect(complained.fileHandleForReading.readToEnd() ?? Data(), equals: Data())
    }

    @Test("a dash reads standard input")
    func standardInput() throws {
      let call = try Call("run", "-", input: "print \"in\"\nprint nobody")
      expect(call.output, equals: "in\n")
      expect(call.errors, equals: "-:2:7: error: unknown name: nobody\nprint nobody\n      ^\n")
      expect(call.status, equals: 1)
    }

    @Test("unreadable files are named with the reason")
    func unreadable() throws {
      let folder = try Folder()
      let missing = try Call("run", folder.path + "/none.msg")
      expect(missing.errors, equals: "forwardcast: cannot read \(folder.path)/none.msg: No such file or directory\n")
      expect(missing.status, equals: 2)
      let directory = try Call("run", folder.path)
      expect(directory.errors, equals: "forwardcast: cannot read \(folder.path): Is a directory\n")
      expect(directory.status, equals: 2)
      let invalid = try folder.file("bytes.msg", Array("print 1\nprint \"é".utf8) + [0xFF, 0x22])
      let refused = try Call("check", invalid)
      expect(
        refused.errors,
        equals: "\(invalid):2:9: error: syntax: the byte 0xFF is not UTF-8\nprint \"é\u{FFFD}\"\n        ^\n")
      expect(refused.status, equals: 2)
      // These characters do not end a line of a script.
      let long = try folder.file("long.msg", Array("print 1\r\nprint \"\u{2028}\u{85}\u{C}\"\rprint ".utf8) + [0xFF])
      try expect(
        Call("run", long).errors,
        equals: "\(long):3:7: error: syntax: the byte 0xFF is not UTF-8\nprint \u{FFFD}\n      ^\n")
      let marked = try folder.file("marked.msg", Array("\u{FEFF}print \"".utf8) + [0xFF] + Array("\"\r\nprint 2".utf8))
      try expect(
        Call("run", marked).errors,
        equals: "\(marked):1:8: error: syntax: the byte 0xFF is not UTF-8\nprint \"\u{FFFD}\"\n       ^\n")
      // The place begins the line, even if it resembles a reason.
      _ = try folder.file("cannot.msg", [0xFF])
      let near = try Call.shell("cd \(folder.path) && \(Call.executable().path) check cannot.msg 2>&1")
      expect(near.hasPrefix("cannot.msg:1:1: error: syntax: "), "\(near)")
    }

    @Test(
      "an invalid call ends with status 2, one line of usage, and the cause last",
      arguments: [
        [], ["fly"], ["run"], ["run", "--fast", "x"], ["run", "--steps", "x"], ["run", "--steps", "0", "x"],
        ["run", "--steps"], ["run", "--every-order", "x"],
        ["check"], ["check", "--trace"], ["types"], ["types", "v@:", "v@:"], ["repl", "x"],
        ["run", "--diagram", "o", "x"], ["run", "--trace=yes", "x"], ["run", "--steps=", "x"], ["run", "--diagram="],
        ["--generate-completion"], ["--generate-completion", "tcsh"], ["--version=1"], ["run", "--"],
      ])
    func usage(arguments: [String]) throws {
      let call = try Call(arguments)
      expect(call.status, equals: 2)
      expect(call.output.isEmpty)
      let lines = call.errors.split(separator: "\n", omittingEmptySubsequences: false)
      expect(lines.count == 3 && lines[2].isEmpty, "\(call.errors)")
      expect(lines[0].hasPrefix("usage: forwardcast") && lines[0].utf8.count < 120)
      expect(lines[1].hasPrefix("forwardcast: "))
    }

    @Test("options take their value after a space or an equals sign, and two dashes end the options")
    func wordsOfACall() throws {
      try expect(Call("--", "run", "-", input: "print 1").output, equals: "1\n")
      let folder = try Folder()
      let text = "repeat 5 { print 1 }"
      let limited = try Call("run", "--steps=3", "-", input: text)
      expect(limited.errors.hasPrefix("-:1:12: error: limit exceeded: more than 3 steps"))
      try expect(Call("run", "--steps=3", "-", "--steps", "30", input: text).status, equals: 0)
      let drawing = folder.path + "/a=b.svg"
      try expect(Call("run", "-", "--diagram=\(drawing)", input: text).status, equals: 0)
      expect(try String(contentsOfFile: drawing, encoding: .utf8).hasPrefix("<svg "))
      // A file name may start with a dash only after two dashes.
      expect(try Call("run", "-x.msg").errors.hasSuffix("forwardcast: run has no option -x.msg\n"))
      try expect(
        Call("run", "--", "-x.msg").errors, equals: "forwardcast: cannot read -x.msg: No such file or directory\n")
      expect(try Call("check", "--", "--help").errors.hasPrefix("forwardcast: cannot read --help:"))
      try expect(Call("types", "--", "v@:").status, equals: 0)
      expect(try Call("run", "--step", "3").errors.hasSuffix("has no option --step; did you mean --steps?\n"))
      for call in [["--help=1"], ["run", "--help=1"], ["types", "-h=", "v"]] {
        expect(try Call(call).errors.hasSuffix("forwardcast: --help takes no value\n"))
      }
      expect(try Call("ru").errors.hasSuffix("forwardcast: unknown subcommand ru; did you mean run?\n"))
    }

    @Test("output that cannot be written ends with status 1, and with a reason unless the reader closed the pipe")
    func writeErrors() throws {
      let text = "print 1\nrepeat 1000 { print \"more\" }\n"
      if let full = FileHandle(forWritingAtPath: "/dev/full") {
        for arguments in [["run", "-"], ["repl"], ["help"], ["--version"], ["--generate-completion", "zsh"]] {
          let call = try Call(arguments, input: Data(text.utf8), to: full)
          expect(call.status, equals: 1, "\(arguments)")
          expect(call.errors, equals: "forwardcast: cannot write standard output: No space left on device\n")
        }
      }
      let pipe = Pipe()
      try pipe.fileHandleForReading.close()
      let closed = try Call(["run", "-"], input: Data(text.utf8), to: pipe.fileHandleForWriting)
      expect(closed.status, equals: 1)
      expect(closed.errors.isEmpty)
    }

    @Test(
      "if a standard stream is closed, its text gets into no file", arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    func closedStreams(closing: String) throws {
      let folder = try Folder()
      let text = "receiver R { - a { print \"printed\" } }; let r = new R; [r a]; expect 1 == 2"
      let script = try folder.file("a.msg", text.utf8)
      let (command, trace) = (try Call.executable().path, "\(folder.path)/trace.json")
      _ = try Call.shell("'\(command)' run '\(script)' --trace-file '\(trace)' \(closing)")
      let written = try String(contentsOfFile: trace, encoding: .utf8)
      expect(written.hasPrefix("[\n") && !written.contains("expectation"), "\(written)")
    }

    @Test("an argument that is not UTF-8 is an error that says so, even if the file exists")
    func latinName() throws {
      let (folder, command) = (try Folder(), try Call.executable().path)
      let said = try Call.shell(
        "cd \(folder.path); : > $'caf\\xe9.msg'; '\(command)' run $'caf\\xe9.msg' 2>&1; echo $?")
      let cure = "rename the file, or pass a script as - on standard input"
      expect(said.hasSuffix("\nforwardcast: the argument caf\u{FFFD}.msg is not UTF-8; \(cure)\n2\n"), "\(said)")
    }

    @Test("without standard input, repl ends with status 0")
    func noInput() throws {
      expect(try Call.shell("'\(Call.executable().path)' repl 2>&1 <&-; echo status $?"), equals: "status 0\n")
    }

    @Test("input that cannot be read ends repl with status 2 and the reason, as with run")
    func unreadableInput() throws {
      expect(
        try Call.shell("'\(Call.executable().path)' repl 2>&1 </; echo status $?"),
        equals: "forwardcast: cannot read standard input: Is a directory\nstatus 2\n")
      try expect(Call("run", "").errors, equals: "forwardcast: cannot read \"\": No such file or directory\n")
    }

    @Test("echoed hostile text is truncated, with control and direction characters escaped")
    func echo() throws {
      let evil = "\u{1B}[31m\u{202E}x\u{200F}\u{7}"
      let (long, name) = (String(repeating: "y", count: 100_000), String(repeating: "y", count: 30_000))
      let folder = try Folder()
      let script = try folder.file("a.msg", "receiver R { - a { throw \"\(evil)\(long)\" } } # \(evil)\n[new R a]".utf8)
      let calls = [
        try Call("types", "v@:\(evil)\(name)"), try Call("types", "{\(evil)\(name)=i}"),
        try Call("types", "v@:{\(evil)\(name)=i}"), try Call(evil + long), try Call("run", "--\(evil)\(long)"),
        try Call("help", evil + long), try Call("run", evil), try Call("run", script),
        try Call("run", "--trace", script),
        try Call("repl", input: ":\(evil)\(long)\n"), try Call("repl", input: ":help \(evil)\(long)\n"),
      ]
      for (index, call) in calls.enumerated() {
        let all = call.output + call.errors
        expect(!all.unicodeScalars.contains { ["\u{1B}", "\u{202E}", "\u{200F}", "\u{7}"].contains($0) }, "\(index)")
        expect(all.contains("\\u{1B}[31m\\u{202E}x\\u{200F}\\u{7}"), "\(index): \(all)")
        expect(all.utf8.count < 8000, "\(index)")
      }
    }

    @Test("completions complete words, options and their values", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
      let call = try Call("--generate-completion", shell)
      expect(call.status, equals: 0)
      for word in ["run", "repl", "check", "types", "help", "diagram", "steps", "generate-completion", "receiver"] {
        expect(call.output.contains(word), "\(word)")
      }
      try expect(Call("--generate-completion=\(shell)").output, equals: call.output)
      guard shell == "bash" else { return }
      let cases = [
        (["ru"], "run"), (["run", "--st"], "--steps"), (["run", "--trace", "--di"], "--diagram"),
        (["--generate-completion", ""], "bash,zsh,fish"), (["help", "recei"], "receiver"), (["types", "-"], "--help"),
        (["--generate-completion", "=", "z"], "zsh"), (["run", "--steps", ""], ""),
      ]
      for (words, wanted) in cases {
        let list = (["forwardcast"] + words).map { "'\($0)'" }.joined(separator: " ")
        let program = """
          \(call.output)
          COMP_WORDS=(\(list)); COMP_CWORD=\(words.count)
          _forwardcast
          IFS=,; echo "${COMPREPLY[*]}"
          """
        try expect(Call.shell(program), equals: wanted + "\n", "\(words)")
      }
    }

    @Test("--help and --version print help and version")
    func help() throws {
      expect(try Call("--help").output.hasPrefix("usage: forwardcast run FILE"))
      try expect(Call("--help").status, equals: 0)
      expect(try Call("--version").output.hasPrefix("forwardcast "))
    }

    @Test("--steps limits a run, and --trace prints each message")
    func options() throws {
      let limited = try Call("run", "--steps", "3", "-", input: "repeat 10 { print 1 }")
      expect(limited.errors.hasPrefix("-:1:13: error: limit exceeded: more than 3 steps"))
      expect(limited.status, equals: 1)
      let traced = try Call("run", "-", "--trace", input: "receiver R { - a = 1 }\nlet r = new R\nprint [r a]")
      expect(traced.output, equals: "1\n")
      expect(
        traced.errors, equals: "<R r> is sent a\n<R r> answers 1\n")
    }

    @Test("every command has --help, and help explains the language")
    func helpOfWords() throws {
      for word in ["run", "repl", "check", "types", "help"] {
        let call = try Call(word, "--help")
        expect(call.output.hasPrefix("usage: forwardcast \(word)"))
        expect(call.errors.isEmpty)
        expect(call.status, equals: 0)
      }
      expect(try Call("help").output.contains("\n  receiver "))
      let drop = try Call("help", "drop")
      expect(
        drop.output, equals: "drop x\n  Forgets a name; an object that nothing else holds is deallocated at once.\n")
      expect(drop.status, equals: 0)
      expect(try Call("help", "steps").output.hasPrefix("steps: 1000000\n"))
      let unknown = try Call("help", "drp")
      expect(unknown.errors, equals: "forwardcast: the language has no word drp; did you mean drop?\n")
      expect(unknown.status, equals: 2)
    }

    @Test("errors to a pipe have no colors")
    func plain() throws {
      let call = try Call("run", "-", input: "print nobody")
      expect(!call.errors.contains("\u{1B}"))
    }

    @Test("types explains tens of thousands of arguments, a line each")
    func manyArguments() throws {
      let count = bound(8_000, full: 32_000)
      let call = try Call("types", "v@:" + String(repeating: "q", count: count))
      expect(call.output.split(separator: "\n").count, equals: count + 5)
      expect(call.output.hasSuffix("frame: \(8 * (count + 2)) bytes\n"))
    }

    @Test("types explains an encoding and points at a malformed part")
    func types() throws {
      let call = try Call("types", "v24@0:8q16")
      expect(
        call.output,
        equals: """
          index   type  meaning    size  alignment  offset
          return  v     void          -          -       -
          0       @     object        8          8       0
          1       :     selector      8          8       8
          2       q     long long     8          8      16
          frame: 24 bytes

          """)
      expect(call.status, equals: 0)
      expect(try Call("types", "{P=dd}").output.contains("struct P"))
      let malformed = try Call("types", "v@:&")
      expect(malformed.errors.hasSuffix("\nv@:&\n   ^\n"))
      expect(malformed.status, equals: 2)
    }
  }
#endif
