// Sockets.swift: TCP on this machine alone, by the system's own calls.
// Example: Chat.

#if canImport(Darwin)
  import Darwin
  private let streamType = SOCK_STREAM
#else
  import Glibc
  private let streamType = Int32(SOCK_STREAM.rawValue)
#endif

struct SocketError: Error, CustomStringConvertible {
  let description: String
  init(_ step: String) { description = "cannot \(step): \(String(cString: strerror(errno)))" }
}

/// A socket that listens on 127.0.0.1, and the free port that the system has found for it.
func listeningSocket() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = try newSocket()
  var place = loopback(port: 0)
  try call("bind", &place) { bind(descriptor, $0, $1.pointee) }
  guard listen(descriptor, 8) == 0 else { throw SocketError("listen") }
  try call("find the port", &place) { getsockname(descriptor, $0, $1) }
  return (descriptor, UInt16(bigEndian: place.sin_port))
}

/// A socket that is connected to a port of 127.0.0.1.
func connectedSocket(to port: UInt16) throws -> Int32 {
  let descriptor = try newSocket()
  var place = loopback(port: port)
  try call("connect", &place) { connect(descriptor, $0, $1.pointee) }
  return descriptor
}

private func newSocket() throws -> Int32 {
  // A line for somebody who has just gone is an error of the call, not the end of the program.
  signal(SIGPIPE, SIG_IGN)
  let descriptor = socket(AF_INET, streamType, 0)
  guard descriptor >= 0 else { throw SocketError("make a socket") }
  return descriptor
}

private func loopback(port: UInt16) -> sockaddr_in {
  var place = sockaddr_in()
  place.sin_family = sa_family_t(AF_INET)
  place.sin_port = port.bigEndian
  place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return place
}

private func call(
  _ step: String, _ place: inout sockaddr_in,
  _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
) throws {
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let result = withUnsafeMutablePointer(to: &place) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
  }
  guard result == 0 else { throw SocketError(step) }
}
