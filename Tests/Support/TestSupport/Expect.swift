// Expect.swift: expectations as functions.

package import Testing

// These calls compile in about a tenth of the time of `#expect`, and the tests contain thousands.
// Use the macro for errors and exit tests.

/// Like `#expect(value == expected)`; reports both values if they differ.
package func expect<Value: Equatable>(
  _ value: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(value == expected, comment(), sourceLocation: sourceLocation)
}

/// Like `#expect(condition)`; reports the line if it is false.
package func expect(
  _ condition: Bool, _ comment: @autoclosure () -> Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(condition, comment(), sourceLocation: sourceLocation)
}
