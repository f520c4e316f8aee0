// ThreadIdentity.swift: which thread is running.
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
