// Memory.swift: the number of bytes that the process uses.

#if canImport(Glibc)
  import Glibc

  @_silgen_name("malloc_info")
  private func mallocInfo(_ options: Int32, _ stream: UnsafeMutablePointer<FILE>) -> Int32
#elseif canImport(Darwin)
  import Darwin
#endif

enum Memory {
  /// Allocated bytes with the allocator's overhead; `nil` if the system does not report them.
  static var bytesInUse: Int? {
    #if canImport(Glibc)
      guard let text = allocatorReport() else { return nil }
      return bytes(in: text)
    #elseif canImport(Darwin)
      var statistics = malloc_statistics_t()
      malloc_zone_statistics(nil, &statistics)
      return Int(statistics.size_in_use)
    #else
      nil
    #endif
  }

  #if canImport(Glibc)
    /// The C library's report of its heaps, as XML.
    private static func allocatorReport() -> String? {
      var buffer: UnsafeMutablePointer<CChar>?
      var size = 0
      guard let stream = open_memstream(&buffer, &size) else { return nil }
      let result = mallocInfo(0, stream)
      fclose(stream)
      defer { free(buffer) }
      guard result == 0, let buffer else { return nil }
      return String(cString: buffer)
    }

    /// The memory of the heaps without their free parts, plus separately mapped memory.
    private static func bytes(in report: String) -> Int? {
      // The totals of all heaps follow the last heap.
      let totals = report.split(separator: "\n").reversed().prefix { $0 != "</heap>" }
      func size(_ start: String) -> Int? {
        guard let line = totals.first(where: { $0.hasPrefix(start) }) else { return nil }
        return line.split(separator: "\"").dropLast().last.flatMap { Int($0) }
      }
      guard let taken = size("<system type=\"current\""), let fast = size("<total type=\"fast\""),
        let rest = size("<total type=\"rest\""), let mapped = size("<total type=\"mmap\"")
      else { return nil }
      return taken - fast - rest + mapped
    }
  #endif
}
