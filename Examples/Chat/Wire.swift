// Wire.swift: one end of a connection that carries lines of text.
// Example: Chat.

import Dispatch
import Forwardcast
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Whoever hears what is said, in the room or at a client.
@Forwarded
protocol LineListener: AnyObject, Sendable {
  func heard(_ line: String)
}

final class Wire: Sendable {
  private let descriptor: Int32
  /// The beginning of a line whose end has not come yet.
  private let rest = Mutex<[UInt8]>([])

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Calls `body` on `queue` with each line that comes, and with `nil` once when the other end has finished.
  func read(on queue: DispatchQueue, _ body: @escaping @Sendable (String?) -> Void) {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    // The handler keeps the wire, and so its descriptor, until the source is cancelled.
    source.setEventHandler {
      guard let lines = self.readLines() else {
        source.cancel()
        return body(nil)
      }
      for line in lines { body(line) }
    }
    source.resume()
  }

  private func readLines() -> [String]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return rest.withLock { rest in
      var lines = (rest + bytes.prefix(count)).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      rest = Array(lines.removeLast())
      return lines.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Blocks while the other end is slow to read.
  func send(_ line: String) {
    var bytes = Array("\(line)\n".utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }

  /// Tells the other end that nothing more comes.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }
}
