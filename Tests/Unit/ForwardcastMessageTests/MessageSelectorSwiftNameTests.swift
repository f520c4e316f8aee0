// MessageSelectorSwiftNameTests.swift: selectors from `#function`, as the compiler forms them.

import Forwardcast
import TestSupport
import Testing

@Suite("Message selectors: Swift names")
struct MessageSelectorSwiftNameTests {
  // Each row is the compiler's output for an `@objc` declaration of that name in a generated header
  // (`swiftc -frontend -enable-objc-interop -disable-objc-attr-requires-foundation-module -emit-objc-header-path`).
  @Test(
    "a Swift name becomes the compiler's Objective-C name",
    arguments: [
      ("ping()", "ping"), ("onAddMsg(_:msgData:)", "onAddMsg:msgData:"), ("insert(object:at:)", "insertWithObject:at:"),
      ("move(to:)", "moveTo:"), ("init(frame:)", "initWithFrame:"), ("init()", "init"), ("init(_:)", "init:"),
      ("init(from:)", "initFrom:"), ("room(_:didReceive:)", "room:didReceive:"), ("add(_:_:)", "add::"),
      ("add(x:_:)", "addWithX::"), ("add(_:y:_:)", "add:y::"), ("load(URL:)", "loadWithURL:"),
      // Prepositions at the beginning: whole words in any case, up to a capital or an underscore.
      ("load(usingCache:)", "loadUsingCache:"), ("load(using:)", "loadUsing:"), ("load(user:)", "loadWithUser:"),
      ("load(today:)", "loadWithToday:"), ("load(toDay:)", "loadToDay:"), ("load(TO:)", "loadTO:"),
      ("load(TODay:)", "loadTODay:"), ("load(TODAy:)", "loadWithTODAy:"), ("load(at_x:)", "loadAt_x:"),
      ("load(_at:)", "loadWith_at:"), ("load(within:)", "loadWithin:"), ("load(without:)", "loadWithWithout:"),
      ("load(about:)", "loadWithAbout:"), ("load(to2:)", "loadWithTo2:"), ("load(élan:)", "loadWithélan:"),
      // Prepositions at the end of the base name.
      ("convertTo(view:)", "convertToView:"), ("convertto(view:)", "converttoWithView:"), ("to(view:)", "toView:"),
      ("convert_to(view:)", "convert_toView:"), ("convert_(view:)", "convert_WithView:"), ("plugIN(x:)", "plugINX:"),
      ("within(x:)", "withinX:"), ("iNN(x:)", "iNNWithX:"),
    ])
  func rule(swiftName: String, name: String) throws {
    try expect(MessageSelector(swiftName: swiftName).name, equals: name)
  }

  @Test("the prepositions that the compiler knows, and no other words, replace \"With\"")
  func prepositions() throws {
    let known = """
      above after along alongside as at before below by following for from given in including inside into matching of \
      on passing preceding since to until using via when with within
      """.split(separator: " ").map(String.init)
    let unknown = """
      about across against among around behind beneath beside between beyond down during except like near off onto \
      out outside over past per than through toward under unlike up upon versus while without and or not
      """.split(separator: " ").map(String.init)
    func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
    for word in known {
      try expect(MessageSelector(swiftName: "go(\(word):)").name, equals: "go\(capitalized(word)):")
      try expect(MessageSelector(swiftName: "go\(capitalized(word))(x:)").name, equals: "go\(capitalized(word))X:")
    }
    for word in unknown {
      try expect(MessageSelector(swiftName: "go(\(word):)").name, equals: "goWith\(capitalized(word)):")
      try expect(MessageSelector(swiftName: "go\(capitalized(word))(x:)").name, equals: "go\(capitalized(word))WithX:")
    }
  }

  private final class Speaker {
    let initName: String
    init(volume: Int) { initName = #function }
    var loudness: String { #function }
    func say() -> String { #function }
    func say(_ text: String, to listener: Int) -> String { #function }
    func say(text: String, twice: Bool) -> String { #function }
    func `default`(in place: Int) -> String { #function }
    func go<Value>(by value: Value, _ more: Value...) -> String { #function }
    func ask(for name: String) throws -> String { #function }
  }

  @Test("the names that #function returns can be parsed")
  func functionNames() throws {
    let speaker = Speaker(volume: 1)
    func name(_ function: String) throws -> String { try MessageSelector(swiftName: function).name }
    try expect(name(speaker.initName), equals: "initWithVolume:")
    try expect(name(speaker.loudness), equals: "loudness")
    try expect(name(speaker.say()), equals: "say")
    try expect(name(speaker.say("hello", to: 1)), equals: "say:to:")
    try expect(name(speaker.say(text: "hello", twice: true)), equals: "sayWithText:twice:")
    try expect(name(speaker.default(in: 1)), equals: "defaultIn:")
    try expect(name(speaker.go(by: 1, 2)), equals: "goBy::")
    try expect(name(speaker.ask(for: "name")), equals: "askFor:")
  }

  @Test(
    "backticks quote a word and are not part of it",
    arguments: [
      ("`default`", "default"), ("`default`()", "default"), ("`in`(`for`:`_`:)", "inFor::"), ("go(`x`:)", "goWithX:"),
    ])
  func backticks(swiftName: String, name: String) throws {
    try expect(MessageSelector(swiftName: swiftName).name, equals: name)
  }

  @Test("deinit becomes dealloc, as in Objective-C")
  func deinitializer() throws {
    try expect(MessageSelector(swiftName: "deinit"), equals: "dealloc")
    try expect(MessageSelector(swiftName: "deinit()"), equals: "deinit")
  }

  @Test(
    "text that is not a Swift name is refused at its first bad byte",
    arguments: [
      ("", 0, .empty), ("a:b:", 1, .unexpectedCharacter), ("a(", 2, .unexpectedEnd), ("a(b", 3, .unexpectedEnd),
      ("a(b:", 4, .unexpectedEnd), ("a(b)", 3, .unexpectedCharacter), ("a(:)", 2, .unexpectedCharacter),
      ("a()b", 3, .unexpectedCharacter), ("a(b: c:)", 4, .unexpectedCharacter), ("+(_:_:)", 0, .unexpectedCharacter),
      ("é(1:)", 3, .unexpectedCharacter), ("`a", 2, .unexpectedEnd), ("`a b`", 2, .unexpectedCharacter),
      ("``()", 1, .unexpectedCharacter), ("subscript(_:)", 0, .subscripting), ("a.b()", 1, .unexpectedCharacter),
    ] as [(String, Int, MessageSelectorError.Code)])
  func refused(swiftName: String, byteOffset: Int, code: MessageSelectorError.Code) throws {
    let error = try #require(throws: MessageSelectorError.self) { try MessageSelector(swiftName: swiftName) }
    expect(error.code, equals: code)
    expect(error.byteOffset, equals: byteOffset)
    expect(error.name, equals: swiftName)
    expect("\(error)".hasPrefix("invalid selector "))
  }

  @Test("the length limit counts the selector's bytes, not the Swift name's")
  func length() throws {
    let manyColons = "f(" + String(repeating: "_:", count: 1023) + ")"
    try expect(MessageSelector(swiftName: manyColons).numberOfArguments, equals: 1023)
    let oneTooMany = "f(" + String(repeating: "_:", count: 1024) + ")"
    let error = try #require(throws: MessageSelectorError.self) { try MessageSelector(swiftName: oneTooMany) }
    expect(error.code, equals: .tooLong)
    // "With" makes the selector longer than its Swift name.
    let grown = String(repeating: "f", count: 1020) + "(x:)"
    #expect(throws: MessageSelectorError.self) { try MessageSelector(swiftName: grown) }
  }
}
