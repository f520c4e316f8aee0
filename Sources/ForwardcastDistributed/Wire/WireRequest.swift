// WireRequest.swift: what a sender asks of an endpoint.
// Layer: Wire. See DESIGN.md, "Other processes".

import Forwardcast

/// What a sender asks of an endpoint.
enum WireRequest {
  /// A new line, and what is answered there.
  case open
  /// Whether a message is answered now.
  case ask(selector: String)
  /// A message: the arguments stay items until the endpoint opens them.
  case call(WireCall)
}

/// A message of a line, its arguments unopened.
struct WireCall {
  let line: String
  let number: Int
  let selector: String
  let tree: WireTree
  /// The nodes of types and values, in turn.
  let arguments: [Int]
}

extension WireRequest {
  /// Reads a request.
  ///
  /// - Throws: ``WireRefusal`` that tells the sender what is wrong.
  static func read(_ text: String, _ limits: MessageLimits) throws(WireRefusal) -> WireRequest {
    let message = try WireFields.read(text, limits)
    switch message.text("k") {
    case "open"?: return .open
    case "ask"?:
      guard let selector = message.text("s") else { throw message.lacks("s") }
      return .ask(selector: selector)
    case "call"?:
      guard let line = message.text("l") else { throw message.lacks("l") }
      guard let number = message.integer("n"), number > 0 else { throw message.lacks("n") }
      guard let selector = message.text("s") else { throw message.lacks("s") }
      guard let arguments = message.list("a"), arguments.count % 2 == 0 else { throw message.lacks("a") }
      return .call(
        WireCall(line: line, number: number, selector: selector, tree: message.tree, arguments: arguments))
    case let kind:
      throw WireRefusal(.malformed, "no request is called \(kind.map(WireError.quoted) ?? "nothing")")
    }
  }

  static var openText: String {
    var writer = WireWriter()
    writer.heading()
    writer.record {
      $0.text("k")
      $0.text("open")
    }
    return writer.text
  }

  static func askText(_ selector: MessageSelector) -> String {
    var writer = WireWriter()
    writer.heading()
    writer.record {
      $0.text("k")
      $0.text("ask")
      $0.text("s")
      $0.text(selector.name)
    }
    return writer.text
  }

  /// - Parameter arguments: as ``arguments(of:)`` wrote them.
  static func callText(_ selector: MessageSelector, _ arguments: [UInt8], line: String, number: Int) -> String {
    var writer = WireWriter()
    writer.heading()
    writer.record {
      $0.text("k")
      $0.text("call")
      $0.text("l")
      $0.text(line)
      $0.text("n")
      $0.integer(number)
      $0.text("s")
      $0.text(selector.name)
      $0.text("a")
      $0.items(arguments)
    }
    return writer.text
  }

  /// The list of a message's arguments.
  static func arguments(of invocation: Invocation) throws(WireValueError) -> [UInt8] {
    var writer = WireWriter()
    var failure: WireValueError?
    writer.list { list in
      for (index, argument) in invocation.arguments.enumerated() where failure == nil {
        do throws(WireValueError) { try list.box(argument, role: "argument \(index)") } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return writer.bytes
  }
}

extension WireCall {
  /// Opens the arguments, by the types that the endpoint knows.
  func open(as selector: MessageSelector, types: InvocationTypes, allowed: Set<MessageSelector>)
    throws(WireRefusal) -> Invocation
  {
    let wanted = selector.numberOfArguments
    guard arguments.count == wanted * 2 else {
      throw WireRefusal(.wrongArgumentCount, "wanted \(wanted), found \(arguments.count / 2)")
    }
    let reading = WireReading(
      tree, userInfo: [Invocation.typesKey: types, MessageSelector.selectorsKey: allowed])
    var boxes: [ArgumentBox] = []
    for index in 0..<wanted {
      do {
        boxes.append(
          try reading.box(
            type: arguments[2 * index], value: arguments[2 * index + 1], types: types, in: "types of the endpoint"))
      } catch {
        throw WireRefusal(.unreadableArgument, "argument \(index): \(error)", argumentIndex: index)
      }
    }
    return Invocation(selector, arguments: boxes)
  }
}

/// The fields of a message or answer. What is not asked for is ignored.
struct WireFields {
  let tree: WireTree

  static func read(_ text: String, _ limits: MessageLimits) throws(WireRefusal) -> WireFields {
    guard text.utf8.count <= limits.bytes else {
      throw WireRefusal(.tooLarge, "\(text.utf8.count) bytes of at most \(limits.bytes)")
    }
    let bytes = Array(text.utf8)
    let start: Int
    do { start = try WireVersion.bodyStart(of: bytes) } catch { throw WireRefusal(.unknownVersion, "\(error)") }
    do {
      let tree = try WireTree(bytes, from: start, limits: limits)
      guard tree.kind(0) == .record else { throw WireError("no record") }
      return WireFields(tree: tree)
    } catch {
      throw WireRefusal(.malformed, "\(error)")
    }
  }

  func text(_ name: StaticString) -> String? {
    guard let node = tree.field(name, of: 0), tree.kind(node) == .text else { return nil }
    return tree.text(node)
  }

  func integer(_ name: StaticString) -> Int? {
    guard let node = tree.field(name, of: 0), tree.kind(node) == .integer else { return nil }
    return Int(tree.text(node))
  }

  func list(_ name: StaticString) -> [Int]? {
    guard let node = tree.field(name, of: 0), tree.kind(node) == .list else { return nil }
    return tree.children(of: node)
  }

  func bool(_ name: StaticString) -> Bool? {
    switch tree.field(name, of: 0).map(tree.kind) {
    case .yes?: true
    case .no?: false
    default: nil
    }
  }

  func lacks(_ name: StaticString) -> WireRefusal { WireRefusal(.malformed, "no field \(name)") }
}

/// Why an endpoint did not run a message, as it crosses.
struct WireRefusal: Error, Hashable {
  enum Code: String {
    case unknownVersion = "version"
    case malformed
    case tooLarge = "size"
    case unknownLine = "line"
    case superseded
    /// Its number is too far above the last one.
    case ahead
    case notAllowed = "selector"
    case wrongArgumentCount = "count"
    case unreadableArgument = "argument"
    case busy
    /// The message ran, and its answer was not kept for a second delivery.
    case answerNotKept = "kept"
    /// The message ran, and its answer cannot cross.
    case answerCannotCross = "answer"
  }
  let code: Code
  let evidence: String
  let argumentIndex: Int?

  init(_ code: Code, _ evidence: String, argumentIndex: Int? = nil) {
    (self.code, self.evidence, self.argumentIndex) = (code, evidence, argumentIndex)
  }
}
