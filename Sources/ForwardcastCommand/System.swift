// System.swift: files, streams and terminals by the C library.

import Forwardcast
import ForwardcastScript
import Synchronization

#if canImport(Darwin)
  @_exported import Darwin
#elseif canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Android)
  @_exported import Android
#endif

enum Stream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2

  var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Writes `text`, in one call where possible. After the first failure, which ``WriteFailure/first(of:)`` returns, nothing is
  /// written, since the output would have a gap.
  func write(_ text: String) {
    guard WriteFailure.first(of: self) == nil, !StandardError.write(text, to: rawValue) else { return }
    WriteFailure.note(errno, of: self)
  }
}

/// The first failed write to each stream. It makes the exit status 1.
enum WriteFailure {
  private static let failures = Mutex<[Stream: Int32]>([:])
  private static let isNoted = Atomic<Bool>(false)

  static var isThere: Bool { isNoted.load(ordering: .relaxed) }

  static func first(of stream: Stream) -> Int32? { isThere ? failures.withLock { $0[stream] } : nil }

  fileprivate static func note(_ code: Int32, of stream: Stream) {
    failures.withLock { $0[stream] = $0[stream] ?? code }
    isNoted.store(true, ordering: .relaxed)
  }

  /// Reports a failure of standard output, unless it is a closed pipe.
  static func tell() {
    guard let code = first(of: .output), code != EPIPE else { return }
    Stream.error.write("forwardcast: cannot write standard output: \(String(cString: strerror(code)))\n")
  }
}

struct FileError: Error {
  /// A line for standard error, without the command's name.
  let text: String

  /// The error as a whole line: with the place in the file, or with the command's name.
  var line: String { text.hasPrefix("cannot") ? "forwardcast: \(text)" : text }

  init(text: String) { self.text = text }

  /// The system's error for `path`.
  fileprivate init(_ what: String, _ path: String) {
    let reason = String(cString: strerror(errno))
    text = "\(what) \(ShownText.shown(path)): \(reason)"
  }
}

/// The next bytes of a file: none at its end, `nil` for an error, which is in `errno`.
func readBytes(_ file: Int32, atMost count: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  while true {
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    if count >= 0 { return Array(bytes.prefix(count)) }
    if errno != EINTR { return nil }
  }
}

/// Reads a file, or standard input for `-`, up to `limit` bytes and one.
func readFile(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
  let file = path == "-" ? Stream.input.rawValue : open(path, O_RDONLY)
  guard file >= 0 else { throw FileError("cannot read", path) }
  defer { if path != "-" { close(file) } }
  var bytes: [UInt8] = []
  while bytes.count <= limit {
    guard let part = readBytes(file, atMost: min(1 << 16, limit + 1 - bytes.count)) else {
      throw FileError("cannot read", path)
    }
    if part.isEmpty { break }
    bytes += part
  }
  return bytes
}

struct InputLines {
  private var buffer: [UInt8] = []
  private var start = 0
  private var hasEnded = false

  /// The next line with its line break; `nil` at the end. One of over `limit` bytes comes in parts.
  mutating func next(limit: Int) -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return take(through: end + 1) }
      if hasEnded || buffer.count - start > limit { return start < buffer.count ? take(through: buffer.count) : nil }
      buffer.removeSubrange(..<start)
      start = 0
      searched = buffer.count
      let part = readBytes(Stream.input.rawValue, atMost: 1 << 16) ?? []
      hasEnded = part.isEmpty
      buffer += part
    }
  }

  private mutating func take(through end: Int) -> [UInt8] {
    defer { start = end }
    return Array(buffer[start..<end])
  }
}

/// The length of the longest prefix that is well-formed UTF-8.
func validPrefix(_ bytes: [UInt8]) -> Int {
  var parser = Unicode.UTF8.ForwardParser()
  var iterator = bytes.makeIterator()
  var length = 0
  while case .valid(let scalar) = parser.parseScalar(from: &iterator) { length += scalar.count }
  return length
}

/// A file that is written piece by piece. After the first failure, which ``finish()`` throws, nothing is written.
final class FileWriter: Sendable {
  private let path: String
  private let file: Int32
  private let failure = Mutex<FileError?>(nil)

  init(_ path: String, onlyForOwner: Bool = false) throws(FileError) {
    self.path = path
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, onlyForOwner ? 0o600 : 0o644)
    guard file >= 0 else { throw FileError("cannot write", path) }
  }

  func write(_ text: String) {
    failure.withLock { failure in
      if failure == nil, !StandardError.write(text, to: file) { failure = FileError("cannot write", path) }
    }
  }

  func finish() throws(FileError) {
    close(file)
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

/// Writes a whole file, replacing an existing one.
func writeFile(_ path: String, _ text: String, onlyForOwner: Bool = false) throws(FileError) {
  let file = try FileWriter(path, onlyForOwner: onlyForOwner)
  file.write(text)
  try file.finish()
}

func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

func terminalWidth(_ stream: Stream) -> Int {
  var size = winsize()
  guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}
