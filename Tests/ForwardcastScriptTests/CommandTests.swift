// CommandTests.swift: the command `forwardcast` as a shell sees it.
// Layer: Tests.

import Foundation
import Testing

#if os(macOS) || os(Linux)
  /// What a call of the command came to.
  struct Call {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the command that was built beside these tests.
    init(_ arguments: String..., input: String = "") throws {
      let process = Process()
      process.executableURL = try Self.executable()
      process.arguments = arguments
      let (given, printed, complained) = (Pipe(), Pipe(), Pipe())
      process.standardInput = given
      process.standardOutput = printed
      process.standardError = complained
      try process.run()
      try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try given.fileHandleForWriting.close()
      output = String(decoding: try printed.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      errors = String(decoding: try complained.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      status = process.terminationStatus
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

  /// A folder of files that goes with its owner.
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
    @Test("run prints to standard output, and errors with their place to standard error")
    func run() throws {
      let folder = try Folder()
      let good = try folder.file("good.msg", "print 1\nexpect 1 == 1".utf8)
      let call = try Call("run", good)
      #expect(call.output == "1\n")
      #expect(call.errors.isEmpty)
      #expect(call.status == 0)

      let failing = try folder.file("failing.msg", "expect 1 == 2\nprint 2".utf8)
      let failed = try Call("run", failing)
      #expect(failed.output == "2\n")
      #expect(
        failed.errors == "\(failing):1:1: error: expectation failed: 1 == 2 does not hold\nexpect 1 == 2\n^\n")
      #expect(failed.status == 1)

      let broken = try folder.file("broken.msg", "print 1\nprint )".utf8)
      let refused = try Call("run", broken)
      #expect(refused.output.isEmpty)
      #expect(refused.errors == "\(broken):2:7: error: syntax: \")\" closes nothing\nprint )\n      ^\n")
      #expect(refused.status == 2)
    }

    @Test("of several files all run, each in a world of its own, and the worst status counts")
    func several() throws {
      let folder = try Folder()
      let first = try folder.file("a.msg", "let x = 1\nprint x".utf8)
      let second = try folder.file("b.msg", "print x".utf8)
      let third = try folder.file("c.msg", "print )".utf8)
      let call = try Call("run", first, second, first)
      #expect(call.output == "1\n1\n")
      #expect(call.errors.contains("b.msg:1:7: error: unknown name: x"))
      #expect(call.status == 1)
      #expect(try Call("run", third, second).status == 2)
      #expect(try Call("check", first, second).status == 0)
      #expect(try Call("check", first, third, second).status == 2)
    }

    @Test("--diagram draws the messages of all files into one, as its name says")
    func diagram() throws {
      let folder = try Folder()
      let text = "receiver Cook { - minutes = 20 }\nlet ann = new Cook\nproxy k = multicast\nadd ann to k\n[k minutes]"
      let script = try folder.file("a.msg", text.utf8)
      let (mermaid, drawing) = (folder.path + "/out.mmd", folder.path + "/out.svg")
      let call = try Call("run", script, "--diagram", mermaid)
      #expect(call.status == 0 && call.errors == "")
      let written = try String(contentsOfFile: mermaid, encoding: .utf8)
      #expect(
        written == """
          sequenceDiagram
            participant p1 as script
            participant p2 as #60;multicast k#62;
            participant p3 as #60;Cook ann#62;
            p1->>p2: minutes
            p2->>p3: minutes
            p3-->>p2: 20
            p2-->>p1: 20

          """)
      #expect(try Call("run", script, "--diagram", drawing).status == 0)
      let svg = try String(contentsOfFile: drawing, encoding: .utf8)
      #expect(svg.hasPrefix("<svg ") && svg.contains("&lt;Cook ann&gt;"))
      let failed = try Call("run", script, "--diagram", folder.path + "/none/out.mmd")
      #expect(failed.status == 2 && failed.errors.hasPrefix("forwardcast: cannot write "))
    }

    @Test("a dash is standard input")
    func standardInput() throws {
      let call = try Call("run", "-", input: "print \"in\"\nprint nobody")
      #expect(call.output == "in\n")
      #expect(call.errors == "-:2:7: error: unknown name: nobody\nprint nobody\n      ^\n")
      #expect(call.status == 1)
    }

    @Test("files that cannot be read are named with the reason")
    func unreadable() throws {
      let folder = try Folder()
      let missing = try Call("run", folder.path + "/none.msg")
      #expect(missing.errors == "forwardcast: cannot read \(folder.path)/none.msg: No such file or directory\n")
      #expect(missing.status == 2)
      let directory = try Call("run", folder.path)
      #expect(directory.errors == "forwardcast: cannot read \(folder.path): Is a directory\n")
      #expect(directory.status == 2)
      let invalid = try folder.file("bytes.msg", Array("print 1\nprint \"é".utf8) + [0xFF, 0x22])
      let refused = try Call("check", invalid)
      #expect(refused.errors == "\(invalid):2:9: error: syntax: the byte 0xFF is not UTF-8\n")
      #expect(refused.status == 2)
    }

    @Test(
      "a call that cannot be understood ends with status 2 and the usage",
      arguments: [
        [], ["fly"], ["run"], ["run", "--fast", "x"], ["run", "--steps", "x"], ["run", "--steps", "0", "x"],
        ["run", "--steps"],
        ["check"], ["check", "--trace"], ["types"], ["types", "v@:", "v@:"], ["repl", "x"],
        ["run", "--diagram", "o", "x"],
      ])
    func usage(arguments: [String]) throws {
      let call =
        switch arguments.count {
        case 0: try Call()
        case 1: try Call(arguments[0])
        case 2: try Call(arguments[0], arguments[1])
        case 3: try Call(arguments[0], arguments[1], arguments[2])
        default: try Call(arguments[0], arguments[1], arguments[2], arguments[3])
        }
      #expect(call.status == 2)
      #expect(call.output.isEmpty)
      #expect(call.errors.contains("usage: forwardcast"))
    }

    @Test("help and version")
    func help() throws {
      #expect(try Call("--help").output.hasPrefix("usage: forwardcast run FILE"))
      #expect(try Call("--help").status == 0)
      #expect(try Call("--version").output.hasPrefix("forwardcast "))
    }

    @Test("--steps bounds a run, and --trace tells of each message")
    func options() throws {
      let limited = try Call("run", "--steps", "3", "-", input: "repeat 10 { print 1 }")
      #expect(limited.errors.hasPrefix("-:1:13: error: limit exceeded: more than 3 steps"))
      #expect(limited.status == 1)
      let traced = try Call("run", "-", "--trace", input: "receiver R { - a = 1 }\nlet r = new R\nprint [r a]")
      #expect(traced.output == "1\n")
      #expect(traced.errors == "<R r> is asked a\n  1. <R r> gets a, directly\n  1. <R r> answers 1\n<R r> answers 1\n")
    }

    @Test("--help is answered for every word, and help explains the language")
    func helpOfWords() throws {
      for word in ["run", "repl", "check", "types", "help"] {
        let call = try Call(word, "--help")
        #expect(call.output.hasPrefix("usage: forwardcast \(word)"))
        #expect(call.errors.isEmpty)
        #expect(call.status == 0)
      }
      #expect(try Call("help").output.contains("\n  receiver "))
      let drop = try Call("help", "drop")
      #expect(drop.output == "drop x\n  Forgets a name; an object that nobody else holds dies at once.\n")
      #expect(drop.status == 0)
      #expect(try Call("help", "steps").output.hasPrefix("steps: 1000000\n"))
      let unknown = try Call("help", "drp")
      #expect(unknown.errors == "forwardcast: the language has no word drp; did you mean drop?\n")
      #expect(unknown.status == 2)
    }

    @Test("errors to a pipe have no colours")
    func plain() throws {
      let call = try Call("run", "-", input: "print nobody")
      #expect(!call.errors.contains("\u{1B}"))
    }

    @Test("a signature of tens of thousands of arguments is explained line by line")
    func manyArguments() throws {
      let call = try Call("types", "v@:" + String(repeating: "q", count: 32_000))
      #expect(call.output.split(separator: "\n").count == 32_005)
      #expect(call.output.hasSuffix("frame: 256016 bytes\n"))
    }

    @Test("types explains an encoding, and points at what is malformed")
    func types() throws {
      let call = try Call("types", "v24@0:8q16")
      #expect(
        call.output == """
          index   type  meaning    size  alignment  offset
          return  v     void          -          -       -
          0       @     object        8          8       0
          1       :     selector      8          8       8
          2       q     long long     8          8      16
          frame: 24 bytes

          """)
      #expect(call.status == 0)
      #expect(try Call("types", "{P=dd}").output.contains("struct P"))
      let malformed = try Call("types", "v@:&")
      #expect(malformed.errors.hasSuffix("\nv@:&\n   ^\n"))
      #expect(malformed.status == 2)
    }
  }
#endif
