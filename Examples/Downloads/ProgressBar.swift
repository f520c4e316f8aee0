// ProgressBar.swift: the total of all downloads as a bar, which moves on a terminal.
// Example: Downloads.

import Forwardcast

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@MainActor
final class ProgressBar: LoadingDelegate {
  private let downloads: LoadingProxy
  private let isMoving = isatty(STDOUT_FILENO) == 1
  private var shown = 0

  init(of downloads: LoadingProxy) { self.downloads = downloads }

  /// Queries every download on its own actor and adds up the results.
  func loadedMore() async {
    let total = await downloads.progress
    let percent = Int(100 * total / Double(downloads.count))
    // Without a terminal, prints a line for each quarter only.
    while shown < percent {
      shown += 1
      if isMoving || shown.isMultiple(of: 25) { draw() }
    }
  }

  private func draw() {
    let width = 40
    let done = width * shown / 100
    let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
    print("\(isMoving ? "\r" : "")[\(bar)] \(shown) %", terminator: isMoving && shown < 100 ? "" : "\n")
    fflush(nil)
  }
}
