// ThreadMark.swift: which thread is running.
// Layer: Sending. See DESIGN.md, "Tables and caches".

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The thread that is running, told from any other that lives at the same time.
package struct ThreadMark: Hashable, Sendable {
  private let id: UInt

  /// The mark of the calling thread.
  package static var current: ThreadMark {
    #if canImport(Darwin)
      ThreadMark(id: UInt(bitPattern: pthread_self()))
    #else
      ThreadMark(id: UInt(pthread_self()))
    #endif
  }
}
