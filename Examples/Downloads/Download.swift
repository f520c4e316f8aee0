// Download.swift: one resource that loads part by part, and says how far it is when asked.
// Example: Downloads.

import Forwardcast

/// Whatever takes a while and can say how much of it is done. Of many, that is the sum of what each says.
@Forwarded
protocol Loading: AnyObject, Sendable {
  @Answer(.sum) var progress: Double { get async }
}

/// Whoever wants to know that a part has come. How far that is, it asks.
@Forwarded
protocol LoadingDelegate: AnyObject, Sendable {
  func loadedMore() async
}

/// Keeps its own count on its own actor: nobody adds to a shared total.
actor Download: Loading {
  private let parts: Int
  private let delegates: LoadingDelegateProxy
  private var loaded = 0
  var progress: Double { Double(loaded) / Double(parts) }

  init(parts: Int, delegates: LoadingDelegateProxy) {
    self.parts = parts
    self.delegates = delegates
  }

  /// Stands in for a network, which is why it takes its time.
  func load() async throws {
    while loaded < parts {
      try await Task.sleep(for: .milliseconds(10))
      loaded += 1
      delegates.broadcast(LoadingDelegateProxy.Messages.loadedMore)  // waits for nobody, unlike a call
    }
  }
}
