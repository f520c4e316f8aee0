// Mirror.swift: a server that may have a resource.
// Example: Downloads.

import Forwardcast

@Forwarded
protocol Mirror: AnyObject, Sendable {
  func address(of resource: String) async throws -> String
}

actor Host: Mirror {
  struct Closed: Error {}
  private let name: String
  private let isOpen: Bool
  init(_ name: String, isOpen: Bool) { (self.name, self.isOpen) = (name, isOpen) }

  func address(of resource: String) throws -> String {
    guard isOpen else { throw Closed() }
    return "\(name)/\(resource)"
  }
}
