// TypeEncodingTests.swift: parses, prints and compares single types.

import ForwardcastEncoding
import TestSupport
import Testing

@Suite("Type encodings")
struct TypeEncodingTests {
  @Test("a malformed type is refused with the broken rule and its byte", arguments: Refusal.ofTypes)
  func refusals(refusal: Refusal) throws {
    let error = try #require(throws: TypeEncodingError.self) { try TypeEncoding(refusal.text) }
    expect(error.code, equals: refusal.code)
    expect(error.byteOffset, equals: refusal.offset)
    expect(error.encoding, equals: refusal.text)
    expect("\(error)".hasPrefix("\(refusal.code) at byte \(refusal.offset) of "))
  }

  @Test("an error shows the whole text, or the part around the byte if the text is long")
  func errorText() throws {
    let short = try #require(throws: TypeEncodingError.self) { try TypeEncoding("{?=\"a\"&}") }
    expect("\(short)", equals: #"unknown type at byte 6 of "{?=\"a\"&}""#)
    let long = try #require(throws: TypeEncodingError.self) {
      try TypeEncoding("{?=" + String(repeating: "i", count: 500) + "&" + String(repeating: "d", count: 500) + "}")
    }
    let shown = String(repeating: "i", count: 40) + "&" + String(repeating: "d", count: 39)
    expect("\(long)", equals: "unknown type at byte 503 of …\"\(shown)\"…")
  }

  @Test(
    "everything the grammar allows is parsed and printed back",
    arguments: [
      "v", "@", "@?", "#", ":", "*", "?", "^?", "^v", "r*", "rnNoORVAi", "b3", "b0I3", "@\"NSString\"", "@\"<A><B>\"",
      "@\"_TtC4main3Foo\"", "@\"Größe\"", "@?<v@?>", "@?<@\"NSString\"@?q@?<v@?i>>", "{A}", "{A=}", "{=i}", "{?=}",
      "(A)", "(A=)",
      "^{A}", "{A=^{A}}", "{Größe=d}", "{std::pair<int, char>=ic}", "{a<b<c>, d[3]>=i}", "{C<'>'>=}", "{C<'\\''>=}",
      "{C<'\"'>=}",
      "{Box<(Int) -> ()>}", "{?=\"a\"@\"b\"i}", "{?=\"a\"@\"NSString\"\"b\"i}", "{?=\"a\"@\"NSString\"}",
      "{?=\"a\"@\"\"b0}", "@\"\"", "{?=@\"\"}", "{?=\"a\"@\"\"}", "^@\"\"", "{?=\"a\"@\"\"\"b\"i}",
      "{?=b8b4b1b1b18\"_field1\"[8S]}", "{?=\"a\"ib3\"b\"b5}", "{?=\"a\"@b3}", "(?=b3\"a\"i)",
      "{?=\"a\"@\"NSString\"\"\"b0\"b\"b3}", "{?=\"a\"[2@\"A\"]\"b\"^@\"c\"@}", "{?=@\"A\"@\"B\"i}", "(?=\"a\"@\"B\")",
      "{?=\"b\"@?<v@?@\"A\">\"c\"r@\"d\"i}", "{?=b3I}", "{?=b3I5i}", "{?=b0b0}", "[0i]", "[140737488355328c]",
      "[140737488355328{A}]",
      "[140737488355328{A=}]", "jt", "jD", "A{A=[3c]}", "[2[3[4{?=(?=i^{?=d})}]]]", "{_NSZone=}", "{$_0=i}",
      "{Foo.Bar=i}",
      String(repeating: "^", count: 64) + "v",
    ])
  func printsBack(text: String) throws {
    let type = try TypeEncoding(text)
    expect(type.description, equals: text)
    try expect(TypeEncoding(type.description), equals: type)
  }

  @Test("after an object in a record with names, quotes hold its class unless a type follows them")
  func classOrMemberName() throws {
    func members(_ text: String) throws -> [TypeEncoding.Member] {
      guard case .structure(let record) = try TypeEncoding(text).kind else { return [] }
      return record.members ?? []
    }
    let plain = try members("{?=\"a\"@\"b\"i}")
    expect(plain.map(\.name), equals: ["a", "b"])
    expect(plain.map(\.type), equals: [.object, .int])
    let named = try members("{?=\"a\"@\"b\"\"c\"i}")
    expect(named.map(\.name), equals: ["a", "c"])
    expect(named.map(\.type), equals: [TypeEncoding.object(named: "b"), .int])
    try expect(members("{?=\"a\"@\"b\"}").map(\.type), equals: [TypeEncoding.object(named: "b")])
    try expect(members("{?=@\"b\"i}").map(\.name), equals: [nil, nil])
  }

  @Test("a parsed tree matches its text")
  func kinds() throws {
    try expect(TypeEncoding("^i").kind, equals: .pointer(to: .int))
    try expect(TypeEncoding("[3d]").kind, equals: .array(count: 3, element: .double))
    try expect(TypeEncoding("jf").kind, equals: .complex(.float))
    try expect(TypeEncoding("rV@").qualifiers, equals: [.const, .oneway])
    try expect(TypeEncoding("@?<v@?q>").kind, equals: .block(signature: [.void, .block, .longLong]))
    guard case .bitField(let field) = try TypeEncoding("b64q40").kind else { throw Unexpected() }
    expect((field.position, field.container, field.width) == (64, .longLong, 40))
    guard case .bitField(let bare) = try TypeEncoding("b7").kind else { throw Unexpected() }
    expect((bare.position, bare.container, bare.width) == (nil, nil, 7))
    guard case .structure(let opaque) = try TypeEncoding("{A}").kind else { throw Unexpected() }
    expect(opaque.members == nil)
    guard case .structure(let empty) = try TypeEncoding("{A=}").kind else { throw Unexpected() }
    expect(empty.members, equals: [])
    for scalar in TypeEncoding.Scalar.allCases {
      try expect(TypeEncoding(String(UnicodeScalar(scalar.rawValue))).kind, equals: .scalar(scalar))
    }
  }

  @Test(
    "a type that does not state its size has no layout",
    arguments: ["v", "?", "b3", "{A}", "(A)", "{?=i{A}}", "[3{A}]", "[3v]", "[0{A}]", "A{A}", "{?=v}", "{?=?}", "r{A}"])
  func opaque(text: String) throws {
    let type = try TypeEncoding(text)
    expect(type.layout == nil)
    expect(type.layout(on: .arm64Apple) == nil)
  }

  @Test("a pointer has a size whatever it points to, and an empty record has size 0")
  func pointersAndEmptyRecords() throws {
    let pointer = TypeLayout(
      size: MemoryLayout<UnsafeRawPointer>.size, alignment: MemoryLayout<UnsafeRawPointer>.alignment)
    for text in ["^v", "^?", "^{A}", "*", "@", "@?", "#", ":", "@\"A\"", "^^{A}"] {
      try expect(TypeEncoding(text).layout, equals: pointer)
    }
    try expect(TypeEncoding("{A=}").layout, equals: TypeLayout(size: 0, alignment: 1))
    try expect(TypeEncoding("(A=)").layout, equals: TypeLayout(size: 0, alignment: 1))
  }

  @Test("scalars have the size and alignment of the Swift types that C's are imported as")
  func scalars() {
    func checkLayout<Value>(_ type: TypeEncoding, _: Value.Type) {
      let wanted = TypeLayout(size: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment)
      expect(type.layout, equals: wanted, "\(type)")
    }
    checkLayout(.char, CChar.self)
    checkLayout(.unsignedChar, CUnsignedChar.self)
    checkLayout(.short, CShort.self)
    checkLayout(.unsignedShort, CUnsignedShort.self)
    checkLayout(.int, CInt.self)
    checkLayout(.unsignedInt, CUnsignedInt.self)
    checkLayout(.long, CLong.self)
    checkLayout(.unsignedLong, CUnsignedLong.self)
    checkLayout(.longLong, CLongLong.self)
    checkLayout(.unsignedLongLong, CUnsignedLongLong.self)
    checkLayout(.int128, Int128.self)
    checkLayout(.unsignedInt128, UInt128.self)
    checkLayout(.float, CFloat.self)
    checkLayout(.double, CDouble.self)
    checkLayout(.bool, CBool.self)
    #if arch(x86_64)
      checkLayout(.longDouble, CLongDouble.self)
    #endif
  }

  @Test("a struct has the layout of a Swift struct with the same members, plus C's padding at the end")
  func structs() throws {
    struct First { var a: Int8, b: Int16, c: Int32, d: Int64 }
    struct Second { var a: Int64, b: Int8, c: Int32, d: Int8 }
    func checkLayout<Value>(_ text: String, _: Value.Type) throws {
      let wanted = TypeLayout(size: MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
      try expect(TypeEncoding(text).layout, equals: wanted)
    }
    try checkLayout("{First=csiq}", First.self)
    try checkLayout("{Second=qcic}", Second.self)
    try checkLayout("[3{First=csiq}]", (First, First, First).self)
  }

  @Test("two types are equal if their texts are, and match leniently if their values are compatible")
  func comparison() throws {
    let pairs: [(String, String, lenient: Bool)] = [
      ("@", "@\"A\"", true), ("@\"A\"", "@\"B\"", true), ("@?", "@?<v@?>", true), ("{A=ii}", "{A=\"x\"i\"y\"i}", true),
      ("{A}", "{A=ii}", true), ("ri", "i", true), ("^@", "^@\"A\"", true), ("[2@]", "[2@\"A\"]", true),
      ("(A=@)", "(A=@\"B\")", true),
      ("i", "q", false), ("q", "l", false), ("Ai", "i", false), ("@", "#", false), ("@", "@?", false),
      ("{A=i}", "{B=i}", false),
      ("{A=i}", "{A=ii}", false), ("{A=i}", "(A=i)", false), ("[2i]", "[3i]", false), ("^i", "^q", false),
      ("*", "^c", false),
      ("b3", "b4", false), ("jd", "jf", false),
    ]
    for (left, right, lenient) in pairs {
      let (first, second) = (try TypeEncoding(left), try TypeEncoding(right))
      expect(first != second)
      expect(first.matchesLeniently(second), equals: lenient, "\(left) and \(right)")
      expect(second.matchesLeniently(first), equals: lenient, "\(right) and \(left)")
      expect(first == first && first.matchesLeniently(first) && Set([first, first]).count == 1)
    }
  }

  @Test(
    "a type has a description in words",
    arguments: [
      ("i", "int"), ("^{Point=dd}", "pointer to struct Point"), ("r*", "const C string"), ("^?", "function pointer"),
      ("@\"NSString\"", "object NSString"), ("@?<B@?@q>", "block (object, long long) returning bool"),
      ("[3i]", "array of 3 int"),
      ("{?=i}", "unnamed struct"), ("(U=i)", "union U"), ("jd", "complex double"), ("b1", "1 bit"),
      ("b0I3", "3 bits of unsigned int"),
      ("Vv", "oneway void"), ("#", "class"), (":", "selector"), ("?", "unknown type"),
      ("^^v", "pointer to pointer to void"),
    ])
  func meaning(text: String, words: String) throws {
    try expect(TypeEncoding(text).meaning, equals: words)
  }

  @Test("a class name that could not be parsed again makes no encoding")
  func classNames() {
    expect(TypeEncoding.object(named: "A<B>")?.description, equals: "@\"A<B>\"")
    expect(TypeEncoding.object(named: "")?.description, equals: "@\"\"")
    expect(TypeEncoding.object(named: "a\"b") == nil)
    expect(TypeEncoding.object(named: "a\nb") == nil)
  }

  struct Unexpected: Error {}
}
