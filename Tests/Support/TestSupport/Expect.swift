// Expect.swift: what tests expect, said by functions.

package import Testing

// Each use of `#expect` costs the compiler 10 to 50 milliseconds, a call of these 1 to 4, and the tests expect thousands of times.
// For errors and for exits of processes there is the macro.

/// As `#expect(value == expected)`, and says both values where they differ.
package func expect<Value: Equatable>(
  _ value: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(value == expected, comment(), sourceLocation: sourceLocation)
}

/// As `#expect(condition)`, and says the line where it does not hold.
package func expect(
  _ condition: Bool, _ comment: @autoclosure () -> Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(condition, comment(), sourceLocation: sourceLocation)
}
