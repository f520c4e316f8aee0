// Expect.swift: that two values are equal, said by a function.

package import Testing

/// As `#expect(value == expected)`, and says both values where they differ. Each use of the macro costs the compiler 10 to 50
/// milliseconds, a call of this 1 to 4, and the tests compare thousands of times. For tuples, types and conditions of several
/// parts there is the macro.
package func expect<Value: Equatable>(
  _ value: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(value == expected, comment(), sourceLocation: sourceLocation)
}
