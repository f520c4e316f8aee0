// Terminal.swift: single keys of a terminal.

/// Standard input in raw mode, without echo and line editing, until ``restore()``.
struct RawTerminal {
  private let saved: termios

  init?() {
    var settings = termios()
    guard tcgetattr(Stream.input.descriptor, &settings) == 0 else { return nil }
    saved = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
    guard tcsetattr(Stream.input.descriptor, TCSADRAIN, &settings) == 0 else { return nil }
  }

  func restore() {
    var saved = saved
    tcsetattr(Stream.input.descriptor, TCSADRAIN, &saved)
  }

  /// A byte that was read but not used.
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

  /// The longest time in milliseconds between the first and the second byte of a key. A person who presses Escape takes longer.
  private static let patience: Int32 = 50

  /// Keys that begin with `ESC [`; `unknown` for others and for Escape itself.
  private mutating func readEscape() -> Key? {
    var watched = pollfd(fd: Stream.input.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&watched, 1, Self.patience) > 0 else { return .unknown }
    guard let next = readByte() else { return nil }
    guard next == UInt8(ascii: "[") || next == UInt8(ascii: "O") else {
      returned = next
      return .unknown
    }
    guard let last = readByte() else { return nil }
    // Up, down, right, left, home and end are those that control makes of letters.
    let keys: [Character: Character] = ["A": "p", "B": "n", "C": "f", "D": "b", "H": "a", "F": "e"]
    let letter = Character(Unicode.Scalar(last))
    guard letter.isASCII, letter.isNumber else { return keys[letter].map { .control($0) } ?? .unknown }
    var byte = readByte()
    while let more = byte, more != UInt8(ascii: "~"), more < 0x40 { byte = readByte() }
    return letter == "3" ? .delete : .unknown
  }

  private mutating func readCharacter(_ first: UInt8) -> Key? {
    var bytes = [first]
    let count = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    while bytes.count < count {
      guard let byte = readByte() else { return nil }
      // What belongs to no character is a key of its own.
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
  case enter, backspace, delete, tab, unknown
}
