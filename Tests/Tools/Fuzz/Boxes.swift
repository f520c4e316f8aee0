// Boxes.swift: encodes and decodes messages with arguments of every kind.

import Foundation

@testable import Forwardcast
import ForwardcastCoding

/// A value that a message can encode.
private typealias Coded = any (Codable & Sendable & Hashable)

/// The selectors, indexed by their number of arguments.
private let selectors: [MessageSelector] = ["none", "a:", "a:b:", "a:b:c:", "a:b:c:d:"]

private let writer: JSONEncoder = {
  let writer = JSONEncoder()
  writer.outputFormatting = .sortedKeys
  writer.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  return writer
}()

private func reader(_ types: KnownTypes?, _ listed: Set<MessageSelector>?) -> JSONDecoder {
  let reader = JSONDecoder()
  reader.nonConformingFloatDecodingStrategy = .convertFromString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  reader.userInfo[Invocation.typesKey] = types
  reader.userInfo[MessageSelector.selectorsKey] = listed
  return reader
}

private let open = reader(KnownTypes(["Note": Note.self]), nil)
private let listing = reader(KnownTypes(["Note": Note.self]), Set(selectors))
private let listingNone = reader(KnownTypes(["Note": Note.self]), [])
private let withoutTypes = reader(nil, nil)

/// Encodes a message made from the input, decodes it, and expects the same encoding again.
func boxedMessage(_ program: consuming Program) {
  var program = program
  let count = program.below(selectors.count)
  var mayBeWritten = true
  var hasNote = false
  let arguments = (0..<count).map { _ in argument(&program, &mayBeWritten, &hasNote) }
  var call = Invocation(selectors[count], arguments: arguments)
  if program.below(3) == 0, let signature = try? MethodSignature("v@:" + String(repeating: "@", count: count)) {
    call = Invocation(selectors[count], signature: signature, arguments: arguments)
  }
  if program.below(3) == 0 { call.result = argument(&program, &mayBeWritten, &hasNote) }
  for argument in arguments {
    unbox(argument)
    require(argument.copiedForDelivery().type == argument.type, "a copy is of another type")
  }
  _ = ("\(call)", call.isEqual(to: call), call.signature.description)
  lookOver(call, other: Invocation(selectors[program.below(selectors.count)], arguments: arguments + [ArgumentBox(1)]))
  guard let written = try? writer.encode(call) else {
    return require(!mayBeWritten, "\(call) is not written")
  }
  require(mayBeWritten, "\(call) is written")
  guard let again = try? open.decode(Invocation.self, from: written) else {
    fail("\(call) is written as what cannot be read")
  }
  require((try? writer.encode(again)) == written, "\(call) reads back as another")
  readSignature(call.signature)
  require(again.arguments.allSatisfy(\.isSendable), "what was read may not cross")
  _ = call.isEqual(to: again)
  for (was, read) in zip(call.arguments, again.arguments) where !was.isNil && !(was.value is Void) {
    require(was.type == read.type, "\(was.type) reads back as \(read.type)")
  }
  require((try? listing.decode(Invocation.self, from: written)) != nil, "a listed selector is refused")
  require((try? listingNone.decode(Invocation.self, from: written)) == nil, "an unlisted selector is read")
  let withoutNote = try? withoutTypes.decode(Invocation.self, from: written)
  require((withoutNote == nil) == hasNote, "types that are not named are read, or those that need not be refused")
}

private func readSignature(_ signature: MethodSignature) {
  guard let written = try? writer.encode([signature]) else { fail("a signature is not written") }
  require((try? open.decode([MethodSignature].self, from: written)) == [signature], "a signature reads back as another")
}

/// Calls everything that a receiver may call on a message.
private func lookOver(_ call: Invocation, other: Invocation) {
  _ = ("\(other)", call.isEqual(to: other))
  for index in call.arguments.indices { _ = try? call.argument(index, as: Double?.self) }
  var turned = call
  do {
    try turned.retarget(to: other.selector)
    require(turned.selector == other.selector && turned.result == nil, "a message keeps its old answer")
  } catch {
    require(other.selector.numberOfArguments != call.selector.numberOfArguments, "a message is not turned: \(error)")
  }
  let literal: MessageSelector = "aLongerName:ofTwo:"
  require(literal.numberOfArguments == 2 && literal != call.selector, "a literal is another selector")
  let pairs = zip(call.arguments, other.arguments.reversed())
  for (one, two) in pairs { require(one.isEqual(to: two) == two.isEqual(to: one), "equal one way only") }
}

/// Unboxes the value as every kind of type.
private func unbox(_ box: ArgumentBox) {
  func exact<T: BinaryInteger>(_: T.Type) {
    // An integer that fits must unbox as the same number.
    guard let number = box.value as? any BinaryInteger, let read = try? box.unbox(as: T.self) else { return }
    require("\(number)" == "\(read)", "\(number) is taken out as \(read)")
  }
  exact(Int.self)
  exact(UInt8.self)
  exact(Int16.self)
  exact(UInt64.self)
  exact(Int128.self)
  exact(UInt128.self)
  _ = (try? box.unbox(as: Double.self), try? box.unbox(as: Float.self), try? box.unbox(as: Bool.self))
  _ = (try? box.unbox(as: String.self), try? box.unbox(as: MessageSelector.self), try? box.unbox(as: Int??.self))
  _ = (try? box.unbox(as: [Int].self), try? box.unbox(as: [UInt8?].self), try? box.unbox(as: [String: Double].self))
  _ = (try? box.unbox(as: CGFloat.self), try? box.unbox(as: Substring.self), try? box.unbox(as: ((Int) -> Int).self))
  _ = (
    try? [box].opened(0, as: Int.self), try? [box].opened(0, as: AnyObject.self), absent(Int?.self), absent(Int.self)
  )
  #if !(os(macOS) && arch(x86_64))
    _ = (try? box.unbox(as: Float16.self), try? box.unbox(as: Float16?.self))
  #endif
  _ = (try? box.unbox(as: Any.self), try? box.unbox(as: [Any].self), try? box.unbox(as: AnyObject?.self))
  do { _ = try box.unbox(as: Witness.self) } catch { _ = "\(error)" }
}

private func argument(_ program: inout Program, _ mayBeWritten: inout Bool, _ hasNote: inout Bool) -> ArgumentBox {
  switch program.below(28) {
  case 0: return ArgumentBox(())
  case 1: return ArgumentBox(Int?.none)
  case 2: return ArgumentBox.weak(Witness?.none)
  case 3:
    mayBeWritten = false
    return ArgumentBox(Witness())
  case 4:
    mayBeWritten = false
    return ArgumentBox({ @Sendable (number: Int) -> Int in number })
  case 5:
    mayBeWritten = false
    return ArgumentBox(Int.self)
  case 7: return ArgumentBox.unowned(Witness())
  case 8: return wrapped(MessageSelector?.none, &program)
  case 9:
    mayBeWritten = false
    return pointer(&program)
  case 10:
    mayBeWritten = false
    return ArgumentBox([scalar(&program), scalar(&program)] as [Any])
  case 11:
    mayBeWritten = false
    return ArgumentBox([program.text(): scalar(&program), "k": Witness()] as [String: Any])
  case 12:
    mayBeWritten = false
    return ArgumentBox(Copied())
  case 6:
    hasNote = true
    return wrapped(Note(text: program.text(), next: [Note(text: "", next: nil)]), &program)
  default: return wrapped(scalar(&program), &program)
  }
}

private final class Witness: Sendable {}

private final class Copied: ArgumentCopying {
  func argumentCopy() -> Self { self }
}

private func pointer(_ program: inout Program) -> ArgumentBox {
  switch program.below(7) {
  case 0: ArgumentBox(UnsafePointer<Int8>(bitPattern: 8))
  case 1: ArgumentBox(UnsafeMutablePointer<Int>(bitPattern: 8))
  case 2: ArgumentBox(UnsafeRawPointer(bitPattern: 8))
  case 3: ArgumentBox(UnsafeMutableRawPointer(bitPattern: 8))
  case 4: ArgumentBox(OpaquePointer(bitPattern: 8))
  case 5: ArgumentBox(UnsafePointer<Note>(bitPattern: 8))
  default: ArgumentBox(Witness?.some(Witness()))
  }
}

private func scalar(_ program: inout Program) -> Coded {
  switch program.below(18) {
  case 0: program.integer(Int.self)
  case 1: program.integer(Int8.self)
  case 2: program.integer(Int16.self)
  case 3: program.integer(Int32.self)
  case 4: program.integer(Int64.self)
  case 5: program.integer(Int128.self)
  case 6: program.integer(UInt.self)
  case 7: program.integer(UInt8.self)
  case 8: program.integer(UInt16.self)
  case 9: program.integer(UInt32.self)
  case 10: program.integer(UInt64.self)
  case 11: program.integer(UInt128.self)
  case 12: Float(bitPattern: program.integer(UInt32.self))
  case 13: Double(bitPattern: program.integer(UInt64.self))
  case 14: program.below(2) == 0
  case 15: selectors[program.below(selectors.count)]
  default: program.text()
  }
}

/// The value, or a value composed of it.
private func wrapped<T: Codable & Sendable & Hashable>(_ value: T, _ program: inout Program) -> ArgumentBox {
  switch program.below(12) {
  case 0: ArgumentBox([value, value])
  case 1: ArgumentBox([value, nil] as [T?])
  case 2: ArgumentBox(T?.some(value))
  case 3: ArgumentBox(Dictionary([(program.text(), value), ("k", value)], uniquingKeysWith: { $1 }))
  case 4: ArgumentBox([value: 1])
  case 5: ArgumentBox([[value], []])
  case 6: ArgumentBox([value: [value]])
  case 7: ArgumentBox(["k": [value: [nil, value]]] as [String: [T: [T?]]])
  case 8: ArgumentBox([] as [T])
  default: ArgumentBox(value)
  }
}
