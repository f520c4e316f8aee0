// WireRequest.swift: requests to an endpoint.

import Forwardcast

enum WireRequest {
  /// Opens a line and queries the accepted selectors. The sender's name is not verified.
  case open(sender: WireName)
  /// Queries whether the receiver responds to a selector at present.
  case ask(selector: WireName)
  /// Lists the awaited messages up to `number`. The endpoint starts no others up to that number.
  case await(line: LineName?, number: Int, awaited: [Int])
  case call(WireCall)
}

/// A message of a line. The arguments are not decoded yet.
struct WireCall {
  /// `nil` for an invalid name.
  let line: LineName?
  let number: Int
  /// The first number that the sender still awaits.
  let awaited: Int
  /// The time until which the message waits for earlier messages.
  let patience: Deadline
  let selector: WireName
  let tree: WireTree
  /// The nodes of the arguments: types and values, alternating.
  let arguments: [Int]

  /// The memory of the call until it has ended: nodes, tasks, and two copies of the text.
  var size: Int { 2 * tree.bytes.count + 16 * tree.nodes.count + 4096 }
}

extension WireRequest {
  static func read(_ message: WireFields) throws(WireRefusal) -> WireRequest {
    switch message.word("k") {
    case "open"?:
      let sender = (message.text("o") ?? "").utf8.prefix(64)
      return .open(sender: WireName(String(decoding: sender, as: UTF8.self)))
    case "ask"?: return .ask(selector: try message.wanted("s", message.text("s").map(WireName.init)))
    case "await"?:
      let awaited = try message.wanted("a", message.list("a")).map { message.tree.number($0) ?? 0 }
      return .await(line: try message.line(), number: try message.wanted("n", message.positive("n")), awaited: awaited)
    case "call"?:
      let number = try message.wanted("n", message.positive("n"))
      let arguments = try message.wanted("a", message.pairs("a"))
      return .call(
        WireCall(
          line: try message.line(), number: number, awaited: message.integer("b") ?? number,
          patience: message.positive("w").map { Deadline(after: .milliseconds($0)) } ?? .never,
          selector: try message.wanted("s", message.text("s").map(WireName.init)), tree: message.tree,
          arguments: arguments))
    case let kind: throw WireRefusal(.malformed, "unknown request \(kind.map(WireRefusal.quoted) ?? "without a kind")")
    }
  }

  var number: Int? { if case .call(let call) = self { call.number } else { nil } }
}

/// The text of a request. The fields that depend on the line are added when the request is sent.
struct WireRequestText: Sendable {
  private var head = WireWriter()

  /// The name of this process as a sender.
  private static let sender = "\(LineName())"

  private init<Failure: Error>(
    _ kind: String, _ body: (inout WireWriter) throws(Failure) -> Void
  ) throws(Failure) {
    head.heading()
    head.beginRecord()
    head.field("k", kind)
    try body(&head)
  }

  static var open: WireRequestText { WireRequestText("open") { $0.field("o", sender) } }

  static func ask(_ selector: MessageSelector) -> WireRequestText {
    WireRequestText("ask") { $0.field("s", selector.name) }
  }

  static func await(_ awaited: [Int], upTo number: Int, line: String) -> WireRequestText {
    WireRequestText("await") {
      $0.field("l", line)
      $0.field("n", number)
      $0.name("a")
      $0.list { for number in awaited { $0.integer(number) } }
    }
  }

  static func call(_ invocation: Invocation) throws(WireValueError) -> WireRequestText {
    try WireRequestText("call") { head throws(WireValueError) in
      head.field("s", invocation.selector.name)
      head.name("a")
      try head.list { list throws(WireValueError) in
        for (index, argument) in invocation.arguments.enumerated() { try list.box(argument, role: "argument \(index)") }
      }
    }
  }

  struct Place: Sendable {
    let line: String
    let number: Int
    let awaited: Int
    /// The time until which the message waits for earlier messages.
    let patience: Deadline
  }

  /// The complete text, with the tag that its reply repeats and, for a message, its place.
  func text(_ tag: Int? = nil, _ place: Place? = nil) -> String {
    var tail = WireWriter()
    if let place {
      tail.field("l", place.line)
      tail.field("n", place.number)
      if place.awaited < place.number {
        tail.field("b", place.awaited)
        if place.patience != .never { tail.field("w", place.patience.milliseconds) }
      }
    }
    if let tag { tail.field("g", tag) }
    tail.endRecord()
    return head.text(with: tail)
  }
}

extension Deadline {
  /// The remaining time in milliseconds, at least one.
  var milliseconds: Int {
    let (seconds, attoseconds) = remaining.components
    return Int(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}

extension WireCall {
  func open(as selector: MessageSelector, types: KnownTypes, allowed: Set<MessageSelector>)
    throws(WireRefusal) -> Invocation
  {
    let wanted = selector.numberOfArguments
    guard arguments.count == wanted * 2 else {
      let evidence = "wrong number of arguments: wanted \(wanted), found \(arguments.count / 2)"
      throw WireRefusal(.wrongArgumentCount, evidence)
    }
    let reading = WireReading(tree, types, selectors: allowed)
    var boxes: [ArgumentBox] = []
    boxes.reserveCapacity(wanted)
    for index in 0..<wanted {
      do {
        boxes.append(
          try reading.box(
            type: arguments[2 * index], value: arguments[2 * index + 1], in: "types of the endpoint"))
      } catch {
        throw WireRefusal(.unreadableArgument, "argument \(index): \(error)", argumentIndex: index)
      }
    }
    return Invocation(selector, arguments: boxes)
  }
}

/// The fields of a request or reply. Unknown fields are ignored.
struct WireFields {
  let tree: WireTree

  static func read(_ text: String, _ limits: MessageLimits) throws(WireRefusal) -> WireFields {
    guard text.utf8.count <= limits.bytes else {
      throw WireRefusal(.tooLarge, "the text has \(text.utf8.count) bytes, more than the limit of \(limits.bytes)")
    }
    let bytes = Array(text.utf8)
    let tree = try WireTree(bytes, from: WireVersion.bodyStart(of: bytes), limits: limits)
    guard tree.kind(0) == .record else { throw WireRefusal(.malformed, "not a record") }
    return WireFields(tree: tree)
  }

  private func field(_ name: Unicode.Scalar) -> Int? { tree.field(CollectionOfOne(UInt8(ascii: name)), of: 0) }

  /// The value of a field, if the value is of `kind`. Names of fields are single letters.
  private func field(_ name: Unicode.Scalar, _ kind: WireNode.Kind) -> Int? {
    field(name).flatMap { tree.kind($0) == kind ? $0 : nil }
  }

  func text(_ name: Unicode.Scalar) -> String? { field(name, .text).map(tree.text) }

  /// A text of at most 64 bytes, for comparison with known words.
  func word(_ name: Unicode.Scalar) -> String? {
    field(name, .text).flatMap { tree.bytes(of: $0).count <= 64 ? tree.text($0) : nil }
  }

  func integer(_ name: Unicode.Scalar) -> Int? { field(name).flatMap(tree.number) }

  func positive(_ name: Unicode.Scalar) -> Int? { integer(name).flatMap { $0 > 0 ? $0 : nil } }

  func list(_ name: Unicode.Scalar) -> [Int]? { field(name, .list).map(tree.children) }

  func pairs(_ name: Unicode.Scalar) -> [Int]? { list(name).flatMap { $0.count % 2 == 0 ? $0 : nil } }

  func line() throws(WireRefusal) -> LineName? { LineName(tree.bytes(of: try wanted("l", field("l", .text)))) }

  func wanted<Value>(_ name: Unicode.Scalar, _ value: Value?) throws(WireRefusal) -> Value {
    if let value { return value }
    throw lacks(name)
  }

  func lacks(_ name: Unicode.Scalar) -> WireRefusal { WireRefusal(.malformed, "no field \(name)") }

  func bool(_ name: Unicode.Scalar) -> Bool? { field(name).flatMap(tree.bool) }

  /// The random number of a request, which its reply repeats.
  var tag: Int? { integer("g") }

  var refusal: WireRefusal.Code? { word("k") == "refused" ? word("c").flatMap(WireRefusal.Code.init) : nil }
}

struct WireRefusal: Error, Hashable {
  enum Code: String {
    case unknownVersion = "version"
    case malformed
    case tooLarge = "size"
    case unknownLine = "line"
    case superseded
    /// The number is below the first awaited one, or too far above that one or the last begun one.
    case ahead
    case notAllowed = "selector"
    case wrongArgumentCount = "count"
    case unreadableArgument = "argument"
    /// All lines, or all memory for the sender, are in use.
    case busy
    case closed
    /// The message may have run, but its answer is not kept.
    case answerNotKept = "kept"
    /// The message ran, but its answer cannot be sent.
    case answerCannotCross = "answer"
  }
  let code: Code
  let evidence: String
  let argumentIndex: Int?

  init(_ code: Code, _ evidence: String, argumentIndex: Int? = nil) {
    (self.code, self.evidence, self.argumentIndex) = (code, evidence, argumentIndex)
  }

  /// A text from another process, shortened and quoted.
  static func quoted(_ text: String) -> String {
    var text = text
    if text.utf8.count > 60 { text = String(text.unicodeScalars.prefix(50).map(Character.init)) + "…" }
    return String(reflecting: text)
  }
}
