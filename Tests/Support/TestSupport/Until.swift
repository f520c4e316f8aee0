// Until.swift: polling for a condition.

/// Polls until `condition` is true. Sleeps in between, since yielding would occupy the pool.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ condition: @autoclosure () -> Bool
) async {
  while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}
