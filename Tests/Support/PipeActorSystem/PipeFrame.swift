// PipeFrame.swift: a call or answer as bytes in a pipe, and its faults.

import Forwardcast
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A call or an answer in transit.
public struct PipeFrame: Sendable {
  public enum Kind: UInt8, Sendable {
    case call, answer, failure
  }
  public let kind: Kind
  /// The call's number at its caller.
  public let number: UInt64
  let parts: [Data]

  init(kind: Kind, number: UInt64, parts: [Data]) { (self.kind, self.number, self.parts) = (kind, number, parts) }

  /// Writes the length, kind, number and parts. Returns `false` if the pipe is closed.
  func write(to descriptor: Int32) -> Bool {
    var body = Data([kind.rawValue])
    withUnsafeBytes(of: number.littleEndian) { body.append(contentsOf: $0) }
    for part in parts {
      withUnsafeBytes(of: UInt32(part.count).littleEndian) { body.append(contentsOf: $0) }
      body.append(part)
    }
    var frame = Data()
    withUnsafeBytes(of: UInt32(body.count).littleEndian) { frame.append(contentsOf: $0) }
    frame.append(body)
    var rest = frame[...]
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = rest.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
      #else
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      #endif
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// The next frame, or `nil` at the end.
  static func read(from descriptor: Int32) -> PipeFrame? {
    guard let length = bytes(4, from: descriptor), let body = bytes(Int(number(length)), from: descriptor),
      let first = body.first, let kind = Kind(rawValue: first), body.count >= 9
    else { return nil }
    var parts: [Data] = []
    var place = 9
    while place + 4 <= body.count {
      let count = Int(number(body[place..<place + 4]))
      guard place + 4 + count <= body.count else { return nil }
      parts.append(body[place + 4..<place + 4 + count])
      place += 4 + count
    }
    return PipeFrame(kind: kind, number: number(body[1..<9]), parts: parts)
  }

  private static func number(_ data: Data) -> UInt64 { data.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  private static func bytes(_ count: Int, from descriptor: Int32) -> Data? {
    var data = Data(count: count)
    var done = 0
    while done < count {
      let got = data.withUnsafeMutableBytes { read_($0.baseAddress, done, count, descriptor) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return nil }
      done += got
    }
    return data
  }

  private static func read_(_ base: UnsafeMutableRawPointer?, _ done: Int, _ count: Int, _ descriptor: Int32) -> Int {
    guard let base else { return 0 }
    #if canImport(Darwin)
      return Darwin.read(descriptor, base + done, count - done)
    #else
      return Glibc.read(descriptor, base + done, count - done)
    #endif
  }
}

/// The faults of frames in transit.
public final class PipeFaults: Sendable {
  public enum Direction: Sendable {
    case outgoing, incoming
  }

  public enum Fate: Sendable {
    case passes
    case drops
    case doubles
    /// Arrives after a number of milliseconds; later frames overtake it.
    case waits(Int)
    /// Arrives when ``PipeFaults/release(reversed:)`` is called.
    case held
  }

  private struct State: Sendable {
    var fate: @Sendable (PipeFrame, Direction) -> Fate = { _, _ in .passes }
    var held: [@Sendable () -> Void] = []
    var met = 0
  }

  private let state = Guarded(State())
  private let later = DispatchQueue(label: "pipe delays")

  public init() {}

  /// Sets the closure that decides what happens to each frame from now on.
  public func command(_ fate: @escaping @Sendable (PipeFrame, Direction) -> Fate) {
    state.withLock { $0.fate = fate }
  }

  /// Releases held frames, in reverse order if `reversed` is true.
  public func release(reversed: Bool = false) {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for frame in reversed ? held.reversed() : held { frame() }
  }

  public var heldCount: Int { state.withLock { $0.held.count } }

  /// The number of frames with a fault.
  public var metCount: Int { state.withLock { $0.met } }

  func pass(_ frame: PipeFrame, _ direction: Direction, to next: @escaping @Sendable (PipeFrame) -> Void) {
    let fate = state.withLock { $0.fate }(frame, direction)
    switch fate {
    case .passes: return next(frame)
    case .drops, .doubles, .waits, .held: state.withLock { $0.met += 1 }
    }
    switch fate {
    case .passes: break
    case .drops: break
    case .doubles:
      next(frame)
      next(frame)
    case .waits(let milliseconds): later.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { next(frame) }
    case .held: state.withLock { $0.held.append { next(frame) } }
    }
  }
}

/// Random faults from a seed; each rate counts frames out of 10,000.
public final class RandomFaults: Sendable {
  private let random: Guarded<UInt64>
  private let drops: Int
  private let doubles: Int
  private let waits: Int
  private let longest: Int

  public init(seed: UInt64, drops: Int, doubles: Int, waits: Int, upToMilliseconds longest: Int) {
    random = Guarded(seed)
    (self.drops, self.doubles, self.waits, self.longest) = (drops, doubles, waits, longest)
  }

  public func fate() -> PipeFaults.Fate {
    let (roll, length) = random.withLock { state -> (Int, Int) in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (Int(state >> 33 % 10_000), Int(state >> 17 & 0xFFFF))
    }
    if roll < drops { return .drops }
    if roll < drops + doubles { return .doubles }
    if roll < drops + doubles + waits { return .waits(1 + length % max(longest, 1)) }
    return .passes
  }
}
