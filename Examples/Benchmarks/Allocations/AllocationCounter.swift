// AllocationCounter.swift: how many heap objects a piece of code makes.
// Used by the benchmarks and by the tests that hold their figures.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Counts the objects that the Swift runtime allocates: instances, arrays, boxes, contexts of closures.
///
/// The runtime has a place for a function to be called instead of its own for each object, meant for tools that
/// watch programs. It is used here, since it works in every build, that of a sanitizer included. Memory that
/// is taken from `malloc` without being an object does not show.
public enum AllocationCounter {
  /// Whose objects are counted.
  public enum Scope: Sendable { case thisThread, process }

  /// How many objects are made while `body` runs; `nil` where the runtime cannot be watched.
  ///
  /// Of calls that overlap, on several threads, the later ones wait for the earlier ones.
  public static func count(_ scope: Scope, _ body: () throws -> Void) rethrows -> Int? {
    guard let hook = Hook.shared else { return nil }
    return try busy.withLock { _ in
      counted.store(0, ordering: .relaxed)
      watched.store(scope == .process ? everyThread : threadIdentity(), ordering: .sequentiallyConsistent)
      hook.install()
      defer {
        hook.uninstall()
        watched.store(nobody, ordering: .sequentiallyConsistent)
      }
      try body()
      return counted.load(ordering: .relaxed)
    }
  }

  private static let busy = Mutex(())
  fileprivate static let counted = Atomic<Int>(0)
  fileprivate static let watched = Atomic<UInt>(nobody)
  fileprivate static let nobody: UInt = 0
  fileprivate static let everyThread: UInt = .max
}

/// What tells threads apart, as a word.
private func threadIdentity() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

private typealias Allocate =
  @convention(c) (UnsafeRawPointer?, Int, Int) -> UnsafeMutableRawPointer?

/// Called by the runtime for each object, and does for it what the runtime would have done.
private let allocate: Allocate = { metadata, size, alignmentMask in
  let watched = AllocationCounter.watched.load(ordering: .relaxed)
  if watched == AllocationCounter.everyThread || watched == threadIdentity() {
    AllocationCounter.counted.add(1, ordering: .relaxed)
  }
  return Hook.shared?.original(metadata, size, alignmentMask)
}

/// The runtime's two variables: the function to call, and whether to look at it.
private struct Hook: @unchecked Sendable {  // the counter's lock guards what it points to
  let function: UnsafeMutablePointer<Allocate>
  let isEnabled: UnsafeMutablePointer<Bool>
  let original: Allocate

  static let shared = Hook()

  private init?() {
    guard let image = dlopen(nil, RTLD_LAZY),
      let function = dlsym(image, "_swift_allocObject"),
      let enabled = dlsym(image, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")
    else { return nil }
    self.function = function.assumingMemoryBound(to: Allocate.self)
    isEnabled = enabled.assumingMemoryBound(to: Bool.self)
    original = self.function.pointee
  }

  func install() {
    function.pointee = allocate
    isEnabled.pointee = true
  }

  /// Lets the runtime go its own way again.
  func uninstall() {
    isEnabled.pointee = false
    function.pointee = original
  }
}
