// OnThread.swift: a thread for what blocks.

import Dispatch

/// Runs `body` on a thread that may block.
package func onThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}
