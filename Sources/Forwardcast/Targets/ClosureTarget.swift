// ClosureTarget.swift: a closure that stands in a proxy as a target.

/// A closure as target: it answers the one selector that it was registered for.
@usableFromInline
final class ClosureTarget: Sendable {
  let method: Method

  @usableFromInline
  init(_ method: Method) { self.method = method }
}

extension ClosureTarget: NamedReceiver {
  @usableFromInline var receiverName: String { "closure for \(method.selector)" }
}
