// System.swift: files, streams and terminals of the C library.

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

/// A standard stream, or a file that is written in parts.
final class Stream: Sendable {
  static let (input, output, error) = (Stream(0), Stream(1), Stream(2))

  let descriptor: Int32
  private let code = Atomic<Int32>(0)
  /// Held during a write, because queues may print at the same time.
  private let writing = Mutex(())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Opens standard streams that are closed, so that no file gets their descriptors and contents.
  /// Using such a stream fails as if it were closed.
  static func reserveClosed() {
    for stream in [input, output, error] where fcntl(stream.descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", stream.descriptor == input.descriptor ? O_WRONLY : O_RDONLY)
    }
  }

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The `errno` of the first failed write; 0 if no write failed.
  var failure: Int32 { code.load(ordering: .relaxed) }

  /// True if output was lost. The exit status is then at least 1.
  static var hasFailed: Bool { output.failure != 0 || error.failure != 0 }

  /// True if no output was lost. Otherwise prints the reason, unless the reader closed the pipe.
  static func isComplete() -> Bool {
    if output.failure != 0, output.failure != EPIPE {
      error.write("\(FileError("cannot write", "standard output", output.failure).line)\n")
    }
    return !hasFailed
  }

  /// Writes `text` as a whole, in one call if possible. After a failure, writes nothing, which
  /// avoids gaps.
  func write(_ text: String) {
    writing.withLock { _ in
      guard failure == 0, !StandardError.write(text, to: descriptor) else { return }
      code.store(errno, ordering: .relaxed)
    }
  }

  convenience init(path: String, onlyForOwner: Bool = false) throws(FileError) {
    self.init(open(path, O_WRONLY | O_CREAT | O_TRUNC, onlyForOwner ? 0o600 : 0o644))
    if descriptor < 0 { throw FileError("cannot write", path) }
  }

  /// Closes the file. Throws the first failure to write it, with its path.
  func finish(_ path: String) throws(FileError) {
    close(descriptor)
    if failure != 0 { throw FileError("cannot write", path, failure) }
  }
}

struct FileError: Error {
  /// The message for standard error, without the command's name. May include an excerpt.
  let text: String

  /// The message, which begins with the command's name or with the place in the file.
  let line: String

  /// - Parameter text: begins with the place in the file.
  init(text: String) { (self.text, line) = (text, text) }

  init(_ what: String, _ path: String, _ code: Int32 = errno) {
    text = "\(what) \(path.isEmpty ? "\"\"" : ShownText.shown(path)): \(String(cString: strerror(code)))"
    line = "forwardcast: \(text)"
  }
}

/// Reads the next bytes of a file: no bytes at its end, `nil` if the read fails and sets `errno`.
func readBytes(_ file: Int32, atMost count: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  while true {
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    if count >= 0 { return Array(bytes.prefix(count)) }
    if errno != EINTR { return nil }
  }
}

/// Reads a file, or standard input for `-`, up to one byte more than `limit`.
/// - Parameter fromEnd: whether to read the last bytes of a longer file instead of the first.
func readFile(_ path: String, limit: Int, fromEnd: Bool = false) throws(FileError) -> [UInt8] {
  let file = path == "-" ? Stream.input.descriptor : open(path, O_RDONLY)
  guard file >= 0 else { throw FileError("cannot read", path) }
  defer { if path != "-" { close(file) } }
  if fromEnd { lseek(file, max(0, lseek(file, 0, SEEK_END) - off_t(limit) - 1), SEEK_SET) }
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

/// Reads a script. If that fails, prints the reason to standard error and returns `nil`.
func scriptText(_ path: String, reason: (FileError) -> String = \.line) -> String? {
  do throws(FileError) {
    return try decoded(readFile(path, limit: ScriptSession.textLimit), from: path)
  } catch {
    Stream.error.write("\(reason(error))\n")
    return nil
  }
}

/// Decodes UTF-8. Throws ``FileError`` with the place of the first invalid byte, the line and a
/// caret.
func decoded(_ bytes: [UInt8], from name: String, firstLine: Int = 1) throws(FileError) -> String {
  // The parser rejects a text that is too long, so the place of the cut does not matter.
  if bytes.count > ScriptSession.textLimit { return String(decoding: bytes, as: UTF8.self) }
  if let text = String(validating: bytes, as: UTF8.self) { return text }
  let valid = validPrefix(bytes)
  // As in a script's text, a byte order mark has no column.
  let mark = firstLine == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  let before = String(decoding: bytes[mark..<valid], as: UTF8.self)
  // `isNewline` is also true for characters that do not end a line of a script.
  let lines = before.split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n"].contains($0) }
  let place = "\(ShownText.shown(name)):\(lines.count + firstLine - 1):\((lines.last?.count ?? 0) + 1)"
  let byte = String(bytes[valid], radix: 16, uppercase: true)
  let start = valid - (lines.last?.utf8.count ?? 0)
  let end = bytes[valid...].firstIndex { [0x0A, 0x0D].contains($0) } ?? bytes.count
  let excerpt = CaretExcerpt(bytes, line: start..<end, at: valid)
  throw FileError(
    text: "\(place): error: syntax: the byte 0x\(byte) is not UTF-8\n\(excerpt.line)\n\(excerpt.caret)")
}

/// The paths that begin with a text. Folders end in a slash. Hidden files are listed only if the
/// last part of the text begins with a dot.
func paths(beginningWith text: String) -> [String] {
  let folder = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
  guard let stream = opendir(folder.isEmpty ? "." : folder) else { return [] }
  defer { closedir(stream) }
  let showsHidden = text.dropFirst(folder.count).hasPrefix(".")
  var paths: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name.hasPrefix("."), !showsHidden || name == "." || name == ".." { continue }
    paths.append(folder + name + (Int(entry.pointee.d_type) == Int(DT_DIR) ? "/" : ""))
  }
  return paths
}

struct InputLines {
  private let file = fdopen(Stream.input.descriptor, "r")

  /// The next line with its line break, or its first `limit` + 1 bytes; `nil` at the end.
  func next(limit: Int) -> [UInt8]? {
    // If standard input is closed, `file` is `nil`.
    guard let file else { return nil }
    var line: [UInt8] = []
    while line.count <= limit, line.last != UInt8(ascii: "\n"), case let byte = getc_unlocked(file), byte != EOF {
      line.append(UInt8(byte))
    }
    return line.isEmpty ? nil : line
  }

  /// The reason why the input has ended early, as for a folder; `nil` if it is complete.
  var error: FileError? { file.flatMap { ferror($0) == 0 ? nil : FileError("cannot read", "standard input") } }
}

/// The length of the longest prefix that is well-formed UTF-8.
func validPrefix(_ bytes: [UInt8]) -> Int {
  var parser = Unicode.UTF8.ForwardParser()
  var iterator = bytes.makeIterator()
  var length = 0
  while case .valid(let scalar) = parser.parseScalar(from: &iterator) { length += scalar.count }
  return length
}

func writeFile(_ path: String, _ text: String, onlyForOwner: Bool = false) throws(FileError) {
  let file = try Stream(path: path, onlyForOwner: onlyForOwner)
  file.write(text)
  try file.finish(path)
}

func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

func terminalWidth(_ stream: Stream) -> Int {
  var size = winsize()
  guard ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}
