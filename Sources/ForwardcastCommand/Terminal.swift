// Terminal.swift: reads single keys from a terminal.

/// Standard input in raw mode until ``restore()``: without echo and line editing, and with marks
/// around pasted text. A signal that ends the program also restores the terminal.
struct RawTerminal {
  /// The settings before raw mode. Written before the handlers of signals read them.
  private nonisolated(unsafe) static var saved = termios()
  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  init?() {
    var settings = termios()
    guard tcgetattr(Stream.input.descriptor, &settings) == 0 else { return nil }
    Self.saved = settings
    for ending in Self.endings {
      Interruption.handle(ending) { number in
        // Calls only what a handler may call: a stream could be in use and locked.
        Self.leave(TCSANOW)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
    guard tcsetattr(Stream.input.descriptor, TCSADRAIN, &settings) == 0 else {
      Self.removeHandlers()
      return nil
    }
    Stream.output.write("\u{1B}[?2004h")
  }

  func restore() {
    Self.leave(TCSADRAIN)
    Self.removeHandlers()
  }

  private static func removeHandlers() { for ending in endings { Interruption.handle(ending, SIG_DFL) } }

  private static func leave(_ moment: Int32) {
    let marks: StaticString = "\u{1B}[?2004l"
    _ = write(Stream.output.descriptor, marks.utf8Start, marks.utf8CodeUnitCount)
    tcsetattr(Stream.input.descriptor, moment, &saved)
  }

  private var returned: UInt8?

  private mutating func readByte() -> UInt8? { returned.take() ?? readBytes(Stream.input.descriptor, atMost: 1)?.first }

  mutating func readKey() -> Key? {
    guard let byte = readByte() else { return nil }
    switch byte {
    case 0x0D, 0x0A: return .enter
    case 0x7F, 0x08: return .backspace
    case 0x09: return .tab
    case 0x1B: return readEscape()
    case 0x00...0x1F: return .control(Character(Unicode.Scalar(byte + 0x60)))
    default: return readCharacter(byte)
    }
  }

  /// The maximum milliseconds between two bytes of a key. A person who types two keys is slower.
  private static let patience: Int32 = 50

  /// A key that begins with Escape: a special key, a letter with Alt, or `unknown`.
  private mutating func readEscape() -> Key? {
    var watched = pollfd(fd: Stream.input.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, Self.patience) > 0 else { return .unknown }
    guard let next = readByte() else { return nil }
    switch next {
    case UInt8(ascii: "["), UInt8(ascii: "O"): return readSequence()
    case 0x7F, 0x08: return .alt("\u{7F}")
    case 0x00...0x1F:
      returned = next
      return .unknown
    default:
      guard case .text(let text)? = readCharacter(next) else { return nil }
      return .alt(text)
    }
  }

  /// Reads the rest of a control sequence: parameters and a final byte. Returns the control key
  /// with the same effect, if there is one: control-P for arrow up.
  private mutating func readSequence() -> Key? {
    var (parameters, byte) = ("", readByte())
    while let more = byte, (0x20..<0x40).contains(more) {
      if parameters.utf8.count < 8 { parameters.unicodeScalars.append(Unicode.Scalar(more)) }
      byte = readByte()
    }
    guard let byte else { return nil }
    switch (Character(Unicode.Scalar(byte)), parameters) {
    case ("C", let modified) where modified.contains(";"): return .alt("f")
    case ("D", let modified) where modified.contains(";"): return .alt("b")
    case ("A", _): return .control("p")
    case ("B", _): return .control("n")
    case ("C", _): return .control("f")
    case ("D", _): return .control("b")
    case ("H", _), ("~", "1"), ("~", "7"): return .control("a")
    case ("F", _), ("~", "4"), ("~", "8"): return .control("e")
    case ("~", "3"): return .delete
    case ("~", "200"): return readPaste()
    default: return .unknown
    }
  }

  /// Reads pasted text up to its end mark as one key. Its tabs and control characters are text, and
  /// its line breaks do not end the line.
  private mutating func readPaste() -> Key? {
    let end = Array("\u{1B}[201~".utf8)
    var bytes: [UInt8] = []
    while bytes.last != end.last || !bytes.suffix(end.count).elementsEqual(end) {
      guard let byte = readByte() else { return nil }
      bytes.append(byte)
    }
    let text = String(decoding: bytes.dropLast(end.count), as: UTF8.self)
    return .text(text.replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
  }

  private mutating func readCharacter(_ first: UInt8) -> Key? {
    var bytes = [first]
    let count = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    while bytes.count < count {
      guard let byte = readByte() else { return nil }
      // A byte that does not continue the character begins the next key.
      if byte & 0xC0 != 0x80 {
        returned = byte
        break
      }
      bytes.append(byte)
    }
    return .text(String(decoding: bytes, as: UTF8.self))
  }
}

enum Key: Equatable {
  case text(String)
  case control(Character)
  /// A character typed with Alt, or after Escape.
  case alt(String)
  case enter, backspace, delete, tab, unknown
}
