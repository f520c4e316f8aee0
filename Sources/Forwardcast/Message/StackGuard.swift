// StackGuard.swift: whether the running thread's stack has room for another message.

import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Whether the running thread's stack has room for another message, so that messages which send messages without end
/// become an error and not a crash.
///
/// Each thread keeps where its room ends in a slot of its own, found once. A check then reads the slot and compares it
/// with the address of a local variable. What is left free is 256 KiB, on stacks of less than 1 MiB a quarter of them:
/// enough for a method's own work, the error and its way back.
package enum StackGuard {
  /// Whether the stack has room for another message.
  ///
  /// Where the system does not say how large the stack is, the answer is yes.
  ///
  /// - Complexity: one read of a thread's slot and one comparison, after the first call on a thread.
  @inline(__always)
  package static var hasRoom: Bool {
    var local: UInt8 = 0
    // Nothing is written there, so that the function needs no guard against what is written too far.
    let here = _withUnprotectedUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
    let slot = slot.load(ordering: .relaxed)
    // The slot holds the end's complement, so that an empty slot is an end that no address reaches.
    return slot != noSlot && ~here < UInt(bitPattern: pthread_getspecific(pthread_key_t(truncatingIfNeeded: slot)))
      || hasRoomByBounds(here)
  }

  /// The error for a message that found no room.
  @inline(never) package static func tooDeep(_ selector: MessageSelector, receiver: AnyObject) -> MessageError {
    MessageError(.tooDeep, of: receiver, selector, "messages that send messages have used up the thread's stack")
  }

  /// Finds the bounds of the running stack, keeps where its room ends, and compares with that.
  @inline(never)
  private static func hasRoomByBounds(_ here: UInt) -> Bool {
    let stack = bounds(around: here)
    let end = stack.map { $0.lowerBound + min(reserve, UInt($0.count) / 4) } ?? 0
    pthread_setspecific(madeSlot, UnsafeRawPointer(bitPattern: ~end))
    return here > end
  }

  private static let reserve: UInt = 256 << 10

  /// The number of the slot, once one has been made: a constant to begin with, so that reading it runs nothing else.
  private static let slot = Atomic<UInt>(noSlot)
  private static let noSlot = UInt.max
  private static let madeSlot: pthread_key_t = {
    var key = pthread_key_t()
    let failure = pthread_key_create(&key, nil)
    precondition(failure == 0, "no room for a thread key (\(failure))")
    slot.store(UInt(key), ordering: .relaxed)
    return key
  }()

  #if canImport(Darwin)
    /// The addresses of the running thread's stack, down to where it may grow.
    private static func bounds(around here: UInt) -> Range<UInt>? {
      let top = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
      let size = pthread_main_np() != 0 ? mainStackLimit : UInt(pthread_get_stacksize_np(pthread_self()))
      guard size < top, (top - size..<top).contains(here) else { return nil }
      return top - size..<top
    }
  #elseif canImport(Android)
    /// The addresses of the running thread's stack, down to where it may grow.
    private static func bounds(around here: UInt) -> Range<UInt>? {
      var attributes = pthread_attr_t()
      guard pthread_getattr_np(pthread_self(), &attributes) == 0 else { return nil }
      defer { pthread_attr_destroy(&attributes) }
      var (lowest, size): (UnsafeMutableRawPointer?, Int) = (nil, 0)
      guard pthread_attr_getstack(&attributes, &lowest, &size) == 0, let lowest else { return nil }
      let stack = UInt(bitPattern: lowest)..<UInt(bitPattern: lowest) + UInt(size)
      return stack.contains(here) ? stack : nil
    }
  #elseif canImport(Glibc) || canImport(Musl)
    /// The addresses of the running stack, down to where it may grow: the mapping that `here` is in.
    ///
    /// The C libraries know the bounds, but declare the function that tells them for some dialects of C only, and one of
    /// them takes what the main thread's stack has grown to for all that it may.
    private static func bounds(around here: UInt) -> Range<UInt>? {
      let file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var reader = MappingReader(file)
      var before: UInt = 0
      while let mapping = reader.next() {
        guard mapping.addresses.contains(here) else {
          before = mapping.addresses.upperBound
          continue
        }
        guard mapping.isMainStack else { return mapping.addresses }
        // It grows down to its limit, and keeps a distance of 1 MiB from what lies below.
        let top = mapping.addresses.upperBound
        let lowest = max(before + (1 << 20), top - min(mainStackLimit, top))
        return min(lowest, mapping.addresses.lowerBound)..<top
      }
      return nil
    }

    /// Reads the lines of `/proc/self/maps`: `7ffd1000-7ffd3000 rw-p 00000000 00:00 0   [stack]`.
    private struct MappingReader {
      private let file: Int32
      private var buffer = [UInt8](repeating: 0, count: 4096)
      private var (position, count) = (0, 0)

      init(_ file: Int32) { self.file = file }

      private mutating func nextByte() -> UInt8? {
        if position == count {
          count = read(file, &buffer, buffer.count)
          position = 0
          guard count > 0 else {
            count = 0
            return nil
          }
        }
        defer { position += 1 }
        return buffer[position]
      }

      private mutating func number(until end: UInt8) -> UInt? {
        var value: UInt = 0
        while let byte = nextByte(), byte != end {
          guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
          value = value << 4 | UInt(digit)
        }
        return value
      }

      mutating func next() -> (addresses: Range<UInt>, isMainStack: Bool)? {
        guard let low = number(until: UInt8(ascii: "-")), let high = number(until: UInt8(ascii: " ")), low < high
        else { return nil }
        var rest: [UInt8] = []
        while let byte = nextByte(), byte != UInt8(ascii: "\n") { rest.append(byte) }
        return (low..<high, rest.suffix(7).elementsEqual("[stack]".utf8))
      }
    }
  #else
    private static func bounds(around here: UInt) -> Range<UInt>? { nil }
  #endif

  #if canImport(Darwin) || canImport(Glibc) || canImport(Musl)
    /// How far the main thread's stack may grow; where nothing limits it, 64 MiB, so that a message without end does not
    /// take all memory.
    private static var mainStackLimit: UInt {
      let unlimited: UInt = 64 << 20
      var limit = rlimit()
      #if canImport(Glibc)
        guard getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit) == 0 else { return unlimited }
      #else
        guard getrlimit(RLIMIT_STACK, &limit) == 0 else { return unlimited }
      #endif
      // "No limit" is the largest value that there is.
      return limit.rlim_cur > 0 && limit.rlim_cur < 1 << 40 ? UInt(clamping: limit.rlim_cur) : unlimited
    }
  #endif
}
