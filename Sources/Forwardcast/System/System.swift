// System.swift: the required functions of the C library.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A thread, distinct from any other running thread.
package struct ThreadIdentity: Hashable, Sendable {
  let id: UInt

  package static var current: ThreadIdentity {
    #if canImport(Darwin)
      ThreadIdentity(id: UInt(bitPattern: pthread_self()))
    #else
      ThreadIdentity(id: UInt(pthread_self()))
    #endif
  }
}

/// A thread-specific pointer, initially `nil`. Slots are scarce and never freed.
package struct ThreadSlot: Sendable {
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key, nil)
    precondition(failure == 0, "the system cannot create a thread-local key: error \(failure)")
    self.key = key
  }

  init(number: UInt) { key = pthread_key_t(truncatingIfNeeded: number) }

  var number: UInt { UInt(key) }

  package var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}

enum ThreadStack {
  /// The bounds of the current stack, including its future growth; `nil` if unknown.
  static func bounds(around here: UInt) -> Range<UInt>? {
    #if canImport(Darwin)
      let top = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
      let size = pthread_main_np() != 0 ? mainStackLimit : UInt(pthread_get_stacksize_np(pthread_self()))
      guard size < top, (top - size..<top).contains(here) else { return nil }
      return top - size..<top
    #elseif canImport(Android)
      var attributes = pthread_attr_t()
      guard pthread_getattr_np(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var (lowest, size): (UnsafeMutableRawPointer?, Int) = (nil, 0)
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0, let lowest else { return nil }
      let stack = UInt(bitPattern: lowest)..<UInt(bitPattern: lowest) + UInt(size)
      return stack.contains(here) ? stack : nil
    #elseif canImport(Glibc) || canImport(Musl)
      // Finds the mapping that contains `here`. `pthread_getattr_np` is not used: it is not always
      // declared, and in one C library it gives the main stack's current size, not its limit.
      guard let file = fopen("/proc/self/maps", "re") else { return nil }
      defer { fclose(file) }
      var (line, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
      defer { free(line) }
      var before: UInt = 0
      // A line is `7ffd1000-7ffd3000 rw-p 00000000 00:00 0   [stack]`.
      while getline(&line, &size, file) > 0, let text = line {
        var dash: UnsafeMutablePointer<CChar>?
        let low = UInt(strtoul(text, &dash, 16))
        guard let dash, dash.pointee == 0x2D else { return nil }
        let high = UInt(strtoul(dash + 1, nil, 16))
        guard low < high else { return nil }
        guard (low..<high).contains(here) else {
          before = high
          continue
        }
        guard String(cString: text).hasSuffix("[stack]\n") else { return low..<high }
        // The main stack grows down to its limit, at least 1 MiB away from the mapping below.
        let lowest = max(before + (1 << 20), high - min(mainStackLimit, high))
        return min(lowest, low)..<high
      }
      return nil
    #else
      return nil
    #endif
  }

  #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
    /// The maximum size of the main thread's stack; 64 MiB if unlimited, to bound recursion.
    private static var mainStackLimit: UInt {
      let unlimited: UInt = 64 << 20
      var limit = rlimit()
      #if canImport(Glibc)
        guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0 else { return unlimited }
      #else
        guard getrlimit(RLIMIT_STACK, &limit) == 0 else { return unlimited }
      #endif
      // The largest value means "no limit".
      return limit.rlim_cur > 0 && limit.rlim_cur < 1 << 40 ? UInt(clamping: limit.rlim_cur) : unlimited
    }
  #endif
}

/// Writes directly to standard error, the last resort for an unhandled error.
package enum StandardError {
  /// Writes `text` to standard error or another file. On failure returns false and sets `errno`.
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

/// The C function, under a name that a method called `write` does not hide.
private func writeBytes(_ file: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int { write(file, start, count) }
