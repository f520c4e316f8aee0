// System.swift: what the library asks of the C library, which has another name on each system.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A thread, told from any other that lives at the same time.
package struct ThreadIdentity: Hashable, Sendable {
  private let id: UInt

  /// The calling thread.
  package static var current: ThreadIdentity {
    #if canImport(Darwin)
      ThreadIdentity(id: UInt(bitPattern: pthread_self()))
    #else
      ThreadIdentity(id: UInt(pthread_self()))
    #endif
  }
}

/// A pointer that each thread has of its own, `nil` to begin with. It is for ever: a system has few of them.
package struct ThreadSlot: Sendable {
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key, nil)
    precondition(failure == 0, "no room for a thread key (\(failure))")
    self.key = key
  }

  /// The calling thread's.
  package var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}

/// Standard error, written to directly: the last resort for an error that nobody handles.
package enum StandardError {
  /// Writes `text` in one piece where the system can; to another file where that is given. `false` leaves the reason in `errno`.
  @discardableResult
  package static func write(_ text: String, to file: Int32 = 2) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let start = rest.baseAddress, rest.count > 0 {
        let written = writeBytes(file, start, rest.count)
        if written < 0 && errno == EINTR { continue }
        if written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) {
          var watched = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
          _ = poll(&watched, 1, -1)
          continue
        }
        if written <= 0 { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
      return true
    }
  }
}

/// The C function by a name that a method called `write` does not hide.
private func writeBytes(_ file: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int { write(file, start, count) }
