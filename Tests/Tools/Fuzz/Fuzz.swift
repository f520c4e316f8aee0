// Fuzz.swift: random input for every parser and for schedules. Run by Tests/Tools/Fuzz/run.

import Forwardcast

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One reader of inputs. Its name is the value of `FORWARDCAST_FUZZ`.
enum Target: String, CaseIterable {
  /// One type encoding, and values converted to it.
  case encodings
  /// Two type encodings, and their comparison.
  case pairs
  /// A method signature.
  case signatures
  /// The name of a message.
  case selectors
  /// A Swift name that is converted to a selector.
  case names
  /// A message as JSON.
  case messages
  /// A message with arguments made from the input's bytes, encoded and decoded.
  case boxes
  #if canImport(ForwardcastScript)
    /// A script.
    case scripts
    /// Operations on a bounded buffer, its mailbox and its gate.
    case buffers
    /// Operations on proxies whose targets are on contexts that run step by step.
    case mailbox
  #endif

  func read(_ input: UnsafeBufferPointer<UInt8>) {
    switch self {
    case .encodings: encoding(text(input))
    case .pairs: twoEncodings(text(input))
    case .signatures: signature(text(input))
    case .selectors: selector(text(input))
    case .names: swiftName(text(input))
    case .messages: message(text(input))
    case .boxes: boxedMessage(Program(input))
    #if canImport(ForwardcastScript)
      case .scripts: script(text(input))
      case .buffers: bufferSchedule(Program(input))
      case .mailbox: proxySchedule(Program(input))
    #endif
    }
  }

  private func text(_ input: UnsafeBufferPointer<UInt8>) -> String { String(decoding: input, as: UTF8.self) }
}

/// The target of this run.
private let target: Target = {
  guard let name = getenv("FORWARDCAST_FUZZ").map({ String(cString: $0) }), let target = Target(rawValue: name) else {
    fail("FORWARDCAST_FUZZ is none of \(Target.allCases.map(\.rawValue))")
  }
  return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.read(UnsafeBufferPointer(start: bytes, count: count))
  return 0
}

/// An input read as a program: operations consume bytes, and missing bytes are 0.
struct Program {
  private var bytes: Slice<UnsafeBufferPointer<UInt8>>

  init(_ input: UnsafeBufferPointer<UInt8>) { bytes = input[...] }

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func byte() -> Int { bytes.popFirst().map(Int.init) ?? 0 }

  /// A number below `bound`.
  mutating func below(_ bound: Int) -> Int { byte() % bound }

  mutating func element<T>(of list: [T]) -> T? { list.isEmpty ? nil : list[byte() % list.count] }

  /// The bits of an integer of any width.
  mutating func integer<T: FixedWidthInteger>(_: T.Type) -> T {
    (0..<T.bitWidth / 8).reduce(into: 0) { value, _ in value = value << 8 | T(truncatingIfNeeded: byte()) }
  }

  mutating func text() -> String { String(decoding: (0..<below(12)).map { _ in UInt8(byte()) }, as: UTF8.self) }
}

/// True for a fixed share of all texts, to limit slow work. The result depends on the text only.
func isOneOf(_ share: Int, _ text: String) -> Bool { text.utf8.count % share == 0 }

/// Ends the process with a finding. An optimized build drops the texts of failed preconditions.
func fail(_ what: String, line: Int = #line) -> Never {
  let text = "FINDING in line \(line): \(what)\n"
  _ = text.withCString { write(2, $0, text.utf8.count) }
  abort()
}

func require(_ holds: Bool, _ what: @autoclosure () -> String = "does not hold", line: Int = #line) {
  if !holds { fail(what(), line: line) }
}

/// True if `FORWARDCAST_FUZZ_SHOW` is set. Operations are then printed as they run.
let shows = getenv("FORWARDCAST_FUZZ_SHOW") != nil

func show(_ what: @autoclosure () -> String) {
  guard shows else { return }
  let text = what() + "\n"
  _ = text.withCString { write(2, $0, text.utf8.count) }
}
