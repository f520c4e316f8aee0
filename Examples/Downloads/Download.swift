// Download.swift: a resource that loads in parts and reports its progress when asked.
// Example: Downloads.

import Forwardcast

/// An operation with a progress. The proxy's progress is the sum for all operations.
@Forwarded
protocol Loading: AnyObject, Sendable {
  @Answer(.sum) var progress: Double { get async }
}

/// Is notified when a part has loaded, and can then ask for the progress.
@Forwarded
protocol LoadingDelegate: AnyObject, Sendable {
  func loadedMore() async
}

/// Counts its own parts on its own actor; there is no shared total.
actor Download: Loading {
  private let parts: Int
  private let delegates: LoadingDelegateProxy
  private var loaded = 0
  var progress: Double { Double(loaded) / Double(parts) }

  init(parts: Int, delegates: LoadingDelegateProxy) {
    self.parts = parts
    self.delegates = delegates
  }

  /// Simulates a network, with delays.
  func load() async throws {
    while loaded < parts {
      try await Task.sleep(for: .milliseconds(10))
      loaded += 1
      delegates.broadcast(LoadingDelegateProxy.Messages.loadedMore)  // does not wait, unlike a call
    }
  }
}
