// WrittenText.swift: what text written by the attributes calls.
// Layer: Facade. See DESIGN.md, "The attributes".

/// Runs `body` with a copy of a target.
///
/// Written for setters of protocols that values may adopt as well: an instance of a class is set, of a value the copy.
@inlinable
public func withCopy<Target>(of target: Target, _ body: (inout Target) -> Void) {
  var copy = target
  body(&copy)
}
