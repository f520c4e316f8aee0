// Memory.swift: how many bytes the process holds.

#if canImport(Glibc)
  import Glibc

  @_silgen_name("malloc_info")
  private func mallocInfo(_ options: Int32, _ stream: UnsafeMutablePointer<FILE>) -> Int32
#elseif canImport(Darwin)
  import Darwin
#endif

enum Memory {
  /// Bytes that are allocated and not freed, the allocator's own marks included; `nil` where nobody can tell.
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
    /// What the C library says of its heaps, as the XML that it writes.
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

    /// What the heaps took from the system, without what is free in them, and with what was mapped for itself.
    private static func bytes(in report: String) -> Int? {
      // The totals of all heaps stand behind the last heap.
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
