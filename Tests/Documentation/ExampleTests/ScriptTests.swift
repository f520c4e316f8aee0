// ScriptTests.swift: every script runs through the built command and prints what is written beside it.

import Foundation
import TestSupport
import Testing

/// Names of the scripts, without their ending.
private func scriptNames() -> [String] {
  let files = (try? FileManager.default.contentsOfDirectory(atPath: packageFolder("Examples/Scripts").path)) ?? []
  return files.filter { $0.hasSuffix(".msg") }.map { String($0.dropLast(4)) }.sorted()
}

@Suite("Scripts")
struct ScriptTests {
  @Test("a script prints exactly what its .out file holds and ends with status 0", arguments: scriptNames())
  func printsWhatIsWrittenBeside(name: String) throws {
    let expected = try String(contentsOf: packageFolder("Examples/Scripts/\(name).out"), encoding: .utf8)
    let ending = try BuiltProgram("forwardcast").run(["run", "Examples/Scripts/\(name).msg"])
    #expect(ending.output == expected)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }

  @Test("each example has a script, and no .out file is without one")
  func everyScriptIsThere() throws {
    let names = scriptNames()
    #expect(Set(["cart", "console", "emperor", "themes"]).isSubset(of: Set(names)))
    let files = try FileManager.default.contentsOfDirectory(atPath: packageFolder("Examples/Scripts").path)
    let outputs = files.filter { $0.hasSuffix(".out") }.map { String($0.dropLast(4)) }.sorted()
    #expect(outputs == names)
  }

  @Test("in every order of its queues: a script that prints something else in one of them fails, with its turns")
  func everyOrder() throws {
    let command = try BuiltProgram("forwardcast")
    let stale = try command.run(["run", "--every-order", "Examples/Scripts/Orders/stale.msg"])
    #expect(stale.output == "" && stale.status == 1)
    #expect(stale.errors.contains("queue desk: tell, sent by body"))
    let fresh = try command.run(["run", "Examples/Scripts/Orders/fresh.msg", "--every-order", "--limit=500"])
    #expect(fresh.output == "to pay: 3\n" && fresh.status == 0)
    #expect(fresh.errors.contains("all orders print the same"))
    let script = "Examples/Scripts/Orders/stale.msg"
    let cut = try command.run(["run", "--every-order", script, "--missing.msg"])
    #expect(cut.status == 2 && cut.errors.contains("run has no option --missing.msg"))
    let both = try command.run(["run", "--every-order", "--limit", "1", "--", script, "-no.msg"])
    #expect(both.errors.contains("not all orders were run, and those that were print the same (1)"))
    #expect(both.status == 2 && both.errors.hasSuffix("cannot read -no.msg: No such file or directory\n"))
  }

  @Test("in every order a text is refused as it is by run, lost output makes the status 1, and files are named")
  func refusedInEveryOrder() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let command = try BuiltProgram("forwardcast")
    for (name, text) in [("open", Data("print (".utf8)), ("bytes", Data("print \"".utf8) + [0xFF]), ("\u{1B}[2J", nil)]
    {
      let file = folder.appending(path: name)
      try text?.write(to: file)
      let (once, all) = try (command.run(["run", file.path]), command.run(["run", "--every-order", file.path]))
      #expect(all.status == 2 && all.output == "" && all.errors == once.errors)
      #expect(!all.errors.isEmpty && !all.errors.contains("\u{1B}"))
    }
    // How far it is says the file, not a line of the program.
    let many = folder.appending(path: "many.msg")
    let queues = (0..<4).map { "queue q\($0); add c to p on q\($0)\n" }.joined()
    let cast = "receiver C { - n { } }; let c = new C; proxy p = multicast duplicates\n"
    try Data((cast + queues + "[p n]; [p n]; [p n]").utf8).write(to: many)
    let long = try command.run(["run", "--every-order", "--limit", "1001", many.path])
    #expect(long.errors.hasPrefix("\(many.path): 1000 orders of at most 1001\n"))
    let file = folder.appending(path: "printing.msg")
    try Data("print 1".utf8).write(to: file)
    if let full = FileHandle(forWritingAtPath: "/dev/full") {
      #expect(try command.run(["run", "--every-order", file.path], to: full).status == 1)
    }
  }

  @Test("a script with an error ends with status 1 and shows the place")
  func errorsAreSeen() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString).msg")
    try Data("print 1\n[nobody home]\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let ending = try BuiltProgram("forwardcast").run(["run", file.path])
    #expect(ending.output == "1\n")
    #expect(ending.errors.contains(":2:2: error: unknown name"))
    #expect(ending.status == 1)
  }
}
