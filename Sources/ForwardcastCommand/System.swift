// System.swift: files, streams and terminals, as the system's C library gives them.
// Layer: Command. See DESIGN.md, "The script".

#if canImport(Darwin)
  @_exported import Darwin
#elseif canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Android)
  @_exported import Android
#endif

/// A stream of the process.
enum Stream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2

  /// Whether a person sits at the other end.
  var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Writes `text` in one piece where the system can.
  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let start = rest.baseAddress, rest.count > 0 {
        let written = systemWrite(rawValue, start, rest.count)
        if written < 0 && errno == EINTR { continue }
        if written <= 0 { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
    }
  }
}

/// The C function, under a name that ``Stream/write(_:)`` does not hide.
private func systemWrite(_ stream: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(stream, bytes, count)
}

/// Why a file could not be read.
struct FileError: Error {
  let text: String
}

/// Reads a whole file, or standard input for `-`, but never more than `limit` bytes and one.
func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
  let file = path == "-" ? Stream.input.rawValue : open(path, O_RDONLY)
  guard file >= 0 else { throw FileError(text: "cannot read \(path): \(systemError())") }
  defer { if path != "-" { close(file) } }
  var bytes: [UInt8] = []
  let chunk = 1 << 16
  while bytes.count <= limit {
    var part = [UInt8](repeating: 0, count: min(chunk, limit + 1 - bytes.count))
    let count = part.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    if count < 0 { throw FileError(text: "cannot read \(path): \(systemError())") }
    if count == 0 { break }
    bytes.append(contentsOf: part.prefix(count))
  }
  return bytes
}

private func systemError() -> String {
  String(cString: strerror(errno))
}

/// How many bytes at the start of `bytes` are well-formed UTF-8.
func validPrefix(_ bytes: [UInt8]) -> Int {
  var parser = Unicode.UTF8.ForwardParser()
  var iterator = bytes.makeIterator()
  var length = 0
  while case .valid(let scalar) = parser.parseScalar(from: &iterator) { length += scalar.count }
  return length
}

/// Writes a whole file, which takes the place of one that is there.
func writeFile(_ path: String, _ text: String, onlyForOwner: Bool = false) throws(FileError) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, onlyForOwner ? 0o600 : 0o644)
  guard file >= 0 else { throw FileError(text: "cannot write \(path): \(systemError())") }
  defer { close(file) }
  let bytes = Array(text.utf8)
  var done = 0
  while done < bytes.count {
    let count = bytes[done...].withUnsafeBytes { rest in
      rest.baseAddress.map { systemWrite(file, $0, rest.count) } ?? 0
    }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { throw FileError(text: "cannot write \(path): \(systemError())") }
    done += count
  }
}

/// A variable of the environment.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// How many characters fit a line of the terminal.
func terminalWidth(_ stream: Stream) -> Int {
  var size = winsize()
  guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}
