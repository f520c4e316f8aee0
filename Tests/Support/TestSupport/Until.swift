// Until.swift: polling for a condition.

/// Waits until `condition` is true. Polls every millisecond, since a loop of `Task.yield()` would keep the pool's few threads busy.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ condition: @autoclosure () -> Bool
) async {
  while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}
