// FlatRelease.swift: releases long chains of objects without recursion.

/// Releases objects one after another, also those whose release was asked for by a `deinit` among
/// them. So a chain of proxies of any length, each of which owns the next one, takes no more of the
/// stack than one of them.
enum FlatRelease {
  private final class Queue { var objects: [AnyObject] = [] }
  /// The queue of the release that is running on a thread, retained by that call.
  private static let running = ThreadSlot()

  /// Empties `objects`: the caller keeps none of them.
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
