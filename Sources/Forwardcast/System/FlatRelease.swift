// FlatRelease.swift: releases long chains of objects without recursion.

/// Releases objects one after another, including objects that the `deinit` of one of them releases.
/// So the release of a long chain of proxies needs no deep stack.
enum FlatRelease {
  private final class Queue { var objects: [AnyObject] = [] }
  /// The queue of the `release` call that runs on the current thread.
  private static let running = ThreadSlot()

  /// Empties `objects`, which must hold the caller's only references.
  @inline(never)
  static func release(_ objects: inout [AnyObject]) {
    if let pointer = running.pointer {
      Unmanaged<Queue>.fromOpaque(pointer).takeUnretainedValue().objects += exchange(&objects, with: [])
      return
    }
    let queue = Queue()
    swap(&queue.objects, &objects)
    running.pointer = Unmanaged.passUnretained(queue).toOpaque()
    defer { running.pointer = nil }
    while releaseLast(of: queue) {}
  }

  @inline(never)
  private static func releaseLast(of queue: Queue) -> Bool { queue.objects.popLast() != nil }
}
