// WireValueTests.swift: values that are encoded, and texts that are refused.

import Forwardcast
import Foundation
import PipeActorSystem
import TestSupport
import Testing

@testable import ForwardcastDistributed

struct Tint: Codable, Hashable, Sendable {
  var red: Int
  var name: String?
  var shades: [Double] = []
}

/// Integers for which the container protocols have defaults that throw.
struct Wide: Codable, Hashable, Sendable {
  var least = Int128.min
  var most = UInt128.max
  var some: Int128? = 1
  var all: [Int128] = [.min, .max]
  var others: [UInt128] = [.max]
}

/// Fills containers after requesting the next one.
struct Interleaved: Codable, Hashable, Sendable {
  var numbers = [1, 2]
  private enum Keys: String, CodingKey { case last }

  init() {}
  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    let record = try list.nestedContainer(keyedBy: Keys.self)
    var first = try list.nestedUnkeyedContainer()
    _ = try list.decode([Int].self)
    numbers = [try first.decode(Int.self), try record.decode(Int.self, forKey: .last)]
  }
  func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    var record = list.nestedContainer(keyedBy: Keys.self)
    var first = list.nestedUnkeyedContainer()
    try list.encode([7])
    try first.encode(numbers[0])
    try record.encode(numbers[1], forKey: .last)
    try first.encode("more")
  }
}

/// Catches errors of parts that have already written something.
struct Patient: Codable, Hashable, Sendable {
  private struct Failing: Encodable {
    private enum Keys: String, CodingKey { case one, two }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(1, forKey: .one)
      var list = container.nestedUnkeyedContainer(forKey: .two)
      try list.encode(2)
      throw Burnt(description: "no more")
    }
  }
  private enum Keys: String, CodingKey { case good, bad, list }

  init() {}
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try? container.encode(Failing(), forKey: .bad)
    try container.encode(3, forKey: .good)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try? list.encode([Failing()])
    try list.encode(list.count)
  }
}

/// Uses container methods that synthesized code does not call.
struct Unusual: Codable, Hashable, Sendable {
  var flags = [true, false]
  var wide: [Int128] = [.min, .max]
  var widest = UInt128.max
  private enum Keys: String, CodingKey { case none, list, inner }

  init() {}
  init(from decoder: any Decoder) throws {
    let record = try decoder.container(keyedBy: Keys.self)
    let isThere = try !record.decodeNil(forKey: .none) || record.decodeNil(forKey: .list)
    var list = try record.nestedUnkeyedContainer(forKey: .list)
    guard !isThere, list.count == 6, try list.decodeNil(), try !list.decodeNil() else { throw Burnt(description: "") }
    flags = [try list.decode(Bool.self), try list.decode(Bool.self)]
    wide = [try list.decode(Int128.self), try list.decode(Int128.self)]
    widest = try list.decode(UInt128.self)
    guard list.isAtEnd else { throw Burnt(description: "") }
  }
  func encode(to encoder: any Encoder) throws {
    var record = encoder.container(keyedBy: Keys.self)
    try record.encodeNil(forKey: .none)
    var list = record.nestedUnkeyedContainer(forKey: .list)
    try list.encodeNil()
    for flag in flags { try list.encode(flag) }
    for number in wide { try list.encode(number) }
    try list.encode(widest)
  }
}

/// Decodes one item more than there are.
struct Greedy: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    while try list.decode(Int.self) < 2 {}
    if list.isAtEnd { _ = try list.decodeNil() }
  }
}

/// Encodes its coding path.
struct Placed: Codable, Sendable {
  var words: [String] = []
  private enum Keys: String, CodingKey { case list }

  init() {}
  init(from decoder: any Decoder) throws {
    let record = try decoder.container(keyedBy: Keys.self)
    var list = try record.nestedUnkeyedContainer(forKey: .list)
    let inner = try list.superDecoder()
    let paths = [decoder.codingPath, record.codingPath, list.codingPath, inner.codingPath]
    words = paths.map { $0.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".") }
  }
  func encode(to encoder: any Encoder) throws {
    var record = encoder.container(keyedBy: Keys.self)
    var list = record.nestedUnkeyedContainer(forKey: .list)
    let inner = list.superEncoder()
    let paths = [encoder.codingPath, record.codingPath, list.codingPath, inner.codingPath]
    var single = inner.singleValueContainer()
    try single.encode(paths.map { $0.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".") })
  }
}

/// Encodes itself without end.
struct Endless: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(self)
  }
}

/// Throws its own error when decoded.
struct Unreadable: Codable, Sendable {
  init() {}
  init(from decoder: any Decoder) throws { throw Burnt(description: "it is too late") }
}

struct Tagged: Codable, Sendable {
  var tags: Set<String> = []
}

enum Choice: Codable, Hashable, Sendable {
  case none
  case some(Int, label: String)
}

class Animal: Codable {
  var legs = 4
}

final class Dog: Animal, @unchecked Sendable {  // never changed after it was made
  var name = ""
  private enum Keys: String, CodingKey {
    case name
  }
  override init() { super.init() }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: try container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

private func written(_ box: ArgumentBox) throws -> [UInt8] {
  var writer = WireWriter()
  writer.heading()
  try writer.list { list in try list.box(box, role: "the value") }
  return writer.bytes
}

private func read(_ bytes: [UInt8], _ types: KnownTypes) throws -> ArgumentBox {
  let tree = try WireTree(bytes, from: try WireVersion.bodyStart(of: bytes), limits: MessageLimits())
  let items = tree.children(of: 0)
  let reading = WireReading(tree, types)
  return try reading.box(type: items[0], value: items[1], in: "types")
}

private let types = KnownTypes([
  "Tint": Tint.self, "Choice": Choice.self, "Dog": Dog.self, "Wide": Wide.self, "Interleaved": Interleaved.self,
  "Patient": Patient.self, "Unusual": Unusual.self, "Greedy": Greedy.self, "Placed": Placed.self,
  "Endless": Endless.self, "Unreadable": Unreadable.self, "Tagged": Tagged.self,
])

private func crosses<T: Equatable & Sendable>(_ value: T, as text: String? = nil) throws {
  let bytes = try written(ArgumentBox(value))
  let words = String(decoding: bytes, as: UTF8.self)
  let box = try read(bytes, types)
  try expect(box.unbox(as: T.self), equals: value, "\(words)")
  let type = ObjectIdentifier(box.type)
  expect(type, equals: ObjectIdentifier(T.self), "\(words)")
  expect(box.isSendable)
  if let text { expect(words, equals: "forwardcast:2 [\(text)]") }
}

@Suite("Values on the wire")
struct WireValueTests {
  @Test("integers of every width are encoded without loss")
  func numbers() throws {
    try crosses(-7, as: "3:Inti-7;")
    try crosses(Int.min)
    try crosses(UInt64.max, as: "6:UInt64i18446744073709551615;")
    try crosses(Int128.min)
    try crosses(UInt128.max)
    try crosses(Int8(-128))
    try crosses(UInt16(65535))
    try crosses([Int8.min, Int8.max], as: "6:[Int8][i-128;i127;]")
    try crosses(["a": UInt32.max])
    try crosses(Wide())
    try crosses(0.1, as: "6:Doubled0.1;")
    try crosses(Double.greatestFiniteMagnitude)
    try crosses(-Double.infinity, as: "6:Doubled-inf;")
    try crosses(Float(0.3))
    try crosses(true, as: "4:Boolt")
    let nan = try read(try written(ArgumentBox(Double.nan)), types)
    expect(try nan.unbox(as: Double.self).isNaN)
  }

  @Test(
    "text of any script, including wire syntax, is encoded unchanged",
    arguments: ["", "alice", "5:alice", "]}", "Æ 漢字 👩‍👩‍👧", "\u{0}\n\"\\", String(repeating: "ä", count: 5000)])
  func texts(text: String) throws { try crosses(text) }

  @Test("composed values are encoded, and empty ones keep their types")
  func composed() throws {
    try crosses([UInt8]([1, 2, 255]), as: "7:[UInt8]b4:AQL/")
    for count in 0..<7 { try crosses([UInt8]((0..<count).map { UInt8($0 * 40) })) }
    try crosses([Int](), as: "5:[Int][]")
    try crosses([String]())
    try crosses([[UInt8]]([[], [1]]))
    try crosses(["a": [1, 2], "b": []])
    try crosses([1: "one"])
    try crosses([Int?]([1, nil]))
    try crosses(Tint(red: 1, name: nil, shades: [0.5]), as: "4:Tint{3:redi1;6:shades[d0.5;]}")
    try crosses([Tint(red: 1, name: "a"), Tint(red: 2)])
    try crosses(Choice.some(3, label: "three"))
    try crosses(Choice.none)
  }

  @Test("containers that are filled later keep their place, side by side and nested")
  func interleaved() throws {
    let item = "[{4:lasti2;}[i1;4:more][i7;]]"
    try crosses(Interleaved(), as: "11:Interleaved\(item)")
    try crosses([Interleaved(), Interleaved()], as: "13:[Interleaved][\(item)\(item)]")
    try crosses(["a": Interleaved()], as: "21:[String: Interleaved]{1:a\(item)}")
  }

  @Test("Booleans, wide integers and nil are encoded in lists and under keys")
  func unusual() throws {
    let ends = "i\(Int128.min);i\(Int128.max);i\(UInt128.max);"
    try crosses(Unusual(), as: "7:Unusual{4:nonen4:list[ntf\(ends)]}")
  }

  @Test("a large dictionary is encoded, and of equal keys the first one is used")
  func large() throws {
    let numbers = Dictionary(uniqueKeysWithValues: (0..<500).map { ("key \($0)", $0) })
    try crosses(numbers)
    let items = (0..<100).map { "2:k\($0 % 9)i\($0);" }.joined()
    let text = "forwardcast:2 [4:Tint{\(items)3:redi1;3:redi2;6:shades[]}]"
    try expect(read(Array(text.utf8), types).unbox(as: Tint.self), equals: Tint(red: 1))
    let missing = try #require(throws: WireValueError.self) {
      try read(Array("forwardcast:2 [4:Tint{\(items)6:shades[]}]".utf8), types)
    }
    expect("\(missing)".contains("no field red"), "\(missing)")
  }

  @Test("encoders and decoders report the same coding path")
  func places() throws {
    let bytes = try written(ArgumentBox(uncheckedSendable: ["a": [Placed()]]))
    let text = String(decoding: bytes, as: UTF8.self)
    expect(text.contains("[3:a.03:a.08:a.0.list10:a.0.list.0]"), "\(text)")
    let copy = try read(bytes, types).unbox(as: [String: [Placed]].self)
    expect(copy["a"]?.first?.words, equals: ["a.0", "a.0", "a.0.list", "a.0.list.0"])
  }

  @Test("a part whose encoding throws leaves nothing behind")
  func failingParts() throws { try crosses([Patient()], as: "9:[Patient][{4:goodi3;4:list[i0;]}]") }

  @Test("an optional is encoded as its wrapped value")
  func optional() throws {
    let bytes = try written(ArgumentBox(Optional("x")))
    expect(String(decoding: bytes, as: UTF8.self), equals: "forwardcast:2 [6:String1:x]")
    try expect(read(bytes, types).unbox(as: String?.self), equals: "x")
  }

  @Test("Void and nil are encoded under different names")
  func nothing() throws {
    expect(try read(try written(ArgumentBox(())), types).value is Void)
    expect(try read(try written(ArgumentBox(Int?.none)), types).isNil)
  }

  @Test("an object is encoded together with its superclass")
  func object() throws {
    let dog = Dog()
    (dog.name, dog.legs) = ("Rex", 3)
    let copy = try read(try written(ArgumentBox(dog)), types).unbox(as: Dog.self)
    expect(copy.name == "Rex" && copy.legs == 3)
    expect(copy !== dog)
  }

  @Test("a value that is not Encodable is refused with its type name")
  func notEncodable() throws {
    struct Plain {}
    let error = try #require(throws: WireValueError.self) { try written(ArgumentBox(Plain())) }
    expect("\(error)", equals: "the value is not Encodable: Plain")
    final class Ring: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(self)
      }
    }
    let endless = try #require(throws: WireValueError.self) { try written(ArgumentBox(uncheckedSendable: Ring())) }
    expect("\(endless)".contains("more than 64 levels"))
    let own = try #require(throws: WireValueError.self) { try written(ArgumentBox(Endless())) }
    expect("\(own)".contains("more than 64 levels"))
  }

  @Test(
    "a value of an unregistered type, or of a type other than the stated one, is refused",
    arguments: [
      ("6:Secret{}", "unknown type \"Secret\""),
      ("3:Int2:no", "wanted Int, found text"),
      ("4:Int8i400;", "wanted Int8, found integer"),
      ("4:Boolp1:x", "not an item"),
      ("7:[UInt8]b1:A", "wanted Array<UInt8>"), ("7:[UInt8]b2:AR", "wanted Array<UInt8>"),
      ("7:[UInt8]b3:AQJ", "wanted Array<UInt8>"), ("7:[UInt8]b2:A=", "wanted Array<UInt8>"),
      ("4:Tint{3:red1:x}", "at red"),
      ("4:Tint{}", "no field red"),
      ("6:Greedy[i1;]", "the list has 1 items at 1"), ("6:Greedy[i1;i2;]", "the list has 2 items at 2"),
      ("7:Endlessi1;", "wanted Endless, found integer at value.value"),
      ("10:Unreadablen", "not a value of type \"Unreadable\": it is too late"),
      ("6:[Tint][i1;]", "wanted Dictionary<String, Any>, found integer at 0"), ("6:[Tint]{}", "found record"),
      ("4:Booln", "wanted Bool, found null"), ("6:Doublet", "wanted Double, found yes"),
      ("6:Doubled--1;", "wanted Double, found real"), ("3:Inti--1;", "wanted Int, found integer"),
      ("1000:\(String(repeating: "x", count: 1000)){}", "\"\(String(repeating: "x", count: 50))…\""),
      ("15:MessageSelector16:neverNamedOnWire", "no selector is known"),
    ])
  func refused(text: String, reason: String) throws {
    let error = try #require(throws: (any Error).self) { try read(Array("forwardcast:2 [\(text)]".utf8), types) }
    expect("\(error)".contains(reason), "\(error)")
    expect(MessageSelector(known: "neverNamedOnWire") == nil)
  }
}

@Suite("Marks on the wire")
struct WireMarkTests {
  /// The error of a value with a text of 40 combining marks, or `nil` if the value is decoded.
  private func error(_ type: String, _ value: (String) -> String) throws -> String? {
    let marks = HostilePeer.marks(160)
    let text = "forwardcast:2 [\(type.utf8.count):\(type)\(value("\(marks.utf8.count):\(marks)"))]"
    do { _ = try read(Array(text.utf8), types) } catch { return "\(error)" }
    return nil
  }

  @Test("a long run of combining marks is refused in keys of dictionaries and members of sets, and nowhere else")
  func keys() throws {
    for (type, value): (String, (String) -> String) in [
      ("[String?: Int]", { "[\($0)i1;]" }), ("[[String]: Int]", { "[[1:a\($0)]i1;]" }),
      ("[[Int: String]: Int]", { "[{1:1\($0)}i1;]" }), ("[Tint: Int]", { "[{3:redi1;4:name\($0)6:shades[]}i1;]" }),
      ("[[String?: Int]]", { "[[1:ai1;][\($0)i1;]]" }), ("Tagged", { "{4:tags[1:a\($0)]}" }),
      ("[String: [String?: Int]]?", { "{1:a[\($0)i1;]}" }),
    ] {
      let error = try #require(try error(type, value), "\(type)")
      expect(error.contains("a key with more than 30 combining marks in a row"), "\(type): \(error)")
    }
    for (type, value): (String, (String) -> String) in [
      ("String", { $0 }), ("[String]", { "[\($0)]" }), ("[String: String]", { "{1:a\($0)}" }),
      ("[String?: String]", { "[1:a\($0)]" }), ("Tint", { "{3:redi1;4:name\($0)6:shades[]}" }),
    ] {
      try expect(error(type, value) == nil, "\(type)")
    }
  }
}

@Suite("Texts on the wire")
struct WireTextTests {
  private func refused(_ text: String, _ limits: MessageLimits = MessageLimits()) -> WireRefusal? {
    do throws(WireRefusal) {
      _ = try WireRequest.read(WireFields.read(text, limits))
      return nil
    } catch { return error }
  }

  @Test(
    "malformed text is refused with its position",
    arguments: [
      ("", "unexpected end at byte 14"), ("x", "not an item at byte 14"), ("{", "unexpected end"), ("}", "not an item"),
      ("[}", "not an item"), ("{1:k}", "a key without a value"), ("{t1:k}", "a key that is not text"),
      ("{1:k1:k}1", "text after the end"), ("{1:k9:open}", "a length past the end of the input"),
      ("{1:ki}", "not a number"),
      ("{1:ki1}", "not a number"), ("{1:ki1x;}", "not a number"), ("{1:k99999999999:x}", "a length beyond the limit"),
      ("{1k}", "not a length"), ("{1:a1:é}", "a length that splits a UTF-8 character"), ("{1:kb}", "not a length"),
      ("{1:ki\(String(repeating: "1", count: 49));}", "not a number"), ("t", "not a record"),
    ])
  func grammar(body: String, reason: String) throws {
    let refusal = try #require(refused("forwardcast:2 \(body)"))
    expect(refusal.code, equals: .malformed)
    expect(refusal.evidence.contains(reason), "\(refusal.evidence)")
  }

  @Test("another version is refused with its name")
  func versions() throws {
    let later = try #require(refused("forwardcast:7 {1:k4:open}"))
    expect(later.code, equals: .unknownVersion)
    expect(later.evidence, equals: "unknown version \"forwardcast:7\"; this process reads only forwardcast:2")
    for text in ["", "{1:k4:open}", "forwardcast", "forwardcast:2", "forwardcast:22 {1:k4:open}"] {
      expect(refused(text)?.code, equals: .unknownVersion, "\(text)")
    }
  }

  @Test("unknown fields are ignored, wherever they are and whatever they hold")
  func unknownFields() throws {
    let text = "forwardcast:2 {3:new[{1:xn}t]1:k3:ask1:z{}1:s5:note:}"
    guard case .ask(let selector) = try WireRequest.read(WireFields.read(text, MessageLimits())) else {
      Issue.record("read as another")
      return
    }
    expect(selector.text, equals: "note:")
  }

  @Test("each limit refuses one more than it allows")
  func bounds() throws {
    func list(_ count: Int) -> String { "forwardcast:2 {1:k4:open1:x[\(String(repeating: "n", count: count))]}" }
    func nest(_ depth: Int) -> String {
      "forwardcast:2 {1:k4:open1:x\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}"
    }
    // A record, two fields with their keys, and the items.
    expect(refused(list(15), MessageLimits(items: 20)) == nil)
    expect(refused(list(16), MessageLimits(items: 20))?.evidence, equals: "more than 20 items")
    expect(refused(nest(7), MessageLimits(depth: 8)) == nil)
    expect(refused(nest(8), MessageLimits(depth: 8))?.evidence, equals: "more than 8 levels")
    let text = list(40)
    expect(refused(text, MessageLimits(bytes: text.utf8.count)) == nil)
    expect(refused(text, MessageLimits(bytes: text.utf8.count - 1))?.code, equals: .tooLarge)
  }

  @Test("missing fields and fields of another type are refused with their names")
  func fields() throws {
    for (body, reason) in [
      ("{1:k4:call}", "no field n"), ("{1:k4:call1:l1:x1:ni0;}", "no field n"), ("{1:k4:call1:ni1;}", "no field a"),
      ("{1:k4:call1:ni1;1:a[n]}", "no field a"), ("{1:k4:call1:ni1;1:a[]}", "no field l"),
      ("{1:k4:call1:ni1;1:a[]1:l1:x1:si1;}", "no field s"), ("{1:k5:await1:ni1;}", "no field a"),
      ("{1:k5:await1:ni1;1:a[]}", "no field l"), ("{1:k5:await1:l1:x1:a[]}", "no field n"),
      ("{1:k3:ask}", "no field s"),
      ("{1:k5:other}", "unknown request \"other\""), ("{}", "unknown request without a kind"),
    ] {
      expect(refused("forwardcast:2 \(body)")?.evidence, equals: reason, "\(body)")
    }
  }

  @Test("the documented example equals the encoded text")
  func documentedExample() throws {
    let article = "Sources/ForwardcastDistributed/ForwardcastDistributed.docc/TheWire.md"
    let page = try String(contentsOf: packageFolder(article), encoding: .utf8)
    let call = Invocation("onAddMsg:msgData:", arguments: [ArgumentBox("alice"), ArgumentBox([UInt8]([1, 2]))])
    let text = try WireRequestText.call(call).text(
      nil, .init(line: "0f9c41f07be2a86d350b1e55c06a9d27", number: 1, awaited: 1, patience: .now))
    let reply = try WireReply.answer(number: 1, ArgumentBox(true)).text()
    let shown = page.replacingOccurrences(of: "\n  ", with: "")
    expect(shown.contains("```\n\(text)\n\(reply)\n```"), "\(text)\n\(reply)")
  }

  @Test("random changes to a text never trap and intern no name")
  func mutations() throws {
    var random = UInt64(20)
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % bound
    }
    let seeds = [
      WireRequestText.open.text(),
      "forwardcast:2 {1:k4:call1:l4:ab.11:ni7;1:s17:onAddMsg:msgData:1:a[6:String5:alice7:[UInt8]b3:AQI]}",
      "forwardcast:2 {1:k5:error1:ni7;1:c13:type mismatch1:w3:Log1:s5:note:1:e3:x y1:xi0;}",
      "forwardcast:2 {1:k6:opened1:l4:ab.11:m[5:note:6:q@:q@:4:gonen]}",
      "forwardcast:2 {1:k6:answer1:ni7;1:r[4:Tint{3:redi1;6:shades[d0.5;]}]}",
    ].map { Array($0.utf8) }
    let letters = Array("0123456789:;[]{}ntfidbk-. ".utf8)
    var readable = 0
    let rounds = bound(3_000, full: 30_000)
    for _ in 0..<rounds {
      var bytes = seeds[next(seeds.count)]
      for _ in 0...next(4) {
        let place = next(bytes.count)
        switch next(3) {
        case 0: bytes[place] = letters[next(letters.count)]
        case 1: bytes.insert(letters[next(letters.count)], at: place)
        default: bytes.remove(at: place)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if case .call(let call)? = try? WireRequest.read(WireFields.read(text, MessageLimits())) {
        readable += 1
        if let selector = MessageSelector(known: call.selector.text) {
          _ = try? call.open(as: selector, types: types, allowed: [])
        }
      }
      if (try? WireReply.read(WireFields.read(text, MessageLimits()), types: types)) != nil { readable += 1 }
    }
    expect(readable > rounds / 60, "the changes leave nothing to open")
    expect(MessageSelector(known: "onAddMsg:msgDatb:") == nil)
  }
}
