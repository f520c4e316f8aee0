// Processors.swift: the processors that a thread may run on.
// The scheduler may run two communicating threads on one processor, which would change results.

#if canImport(Glibc)
  import Glibc

  @_silgen_name("pthread_getaffinity_np")
  private func getAffinity(_ thread: pthread_t, _ size: Int, _ mask: UnsafeMutableRawPointer) -> Int32
  @_silgen_name("pthread_setaffinity_np")
  private func setAffinity(_ thread: pthread_t, _ size: Int, _ mask: UnsafeRawPointer) -> Int32

  /// A set of processors, one bit for each.
  struct Processors: Sendable {
    private var mask = [UInt64](repeating: 0, count: 16)

    /// The processors of the calling thread.
    static var current: Processors {
      var result = Processors()
      let isKnown = result.mask.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return false }
        return getAffinity(pthread_self(), bytes.count, base) == 0
      }
      return isKnown ? result : Processors()
    }

    /// One set for each processor.
    var single: [Processors] {
      (0..<mask.count * 64).compactMap { index in
        let (word, bit) = (index / 64, UInt64(1) << UInt64(index % 64))
        guard mask[word] & bit != 0 else { return nil }
        var one = Processors()
        one.mask[word] = bit
        return one
      }
    }

    /// Restricts the calling thread to these processors.
    func tie() {
      mask.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { _ = setAffinity(pthread_self(), bytes.count, base) }
      }
    }
  }
#else
  /// Threads cannot be restricted here: the system chooses the processor.
  struct Processors: Sendable {
    static var current: Processors { Processors() }
    var single: [Processors] { [] }
    func tie() {}
  }
#endif
