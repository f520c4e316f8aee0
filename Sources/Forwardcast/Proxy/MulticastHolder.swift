// MulticastHolder.swift: an object whose messages are those of the multicast that it holds.
// Layer: Proxy. See DESIGN.md, "The attributes".

/// An object that stands for a multicast proxy where targets are added: a message to it is one to the proxy's targets.
public protocol MulticastHolder: AnyObject {
  /// The proxy.
  var heldMulticast: ForwardingProxy { get }
}
