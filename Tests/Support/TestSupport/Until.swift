// Until.swift: a wait of a test for what others do.

/// Waits until `condition` holds. Between two looks the task sleeps for a millisecond: a loop of `Task.yield()` would take a
/// turn of the few threads from every other test, again and again.
package func until(
  isolation: isolated (any Actor)? = #isolation, _ condition: @autoclosure () -> Bool
) async {
  while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
}
