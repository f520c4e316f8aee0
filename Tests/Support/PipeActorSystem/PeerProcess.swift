// PeerProcess.swift: the second process of a test, and the receivers that it serves.

import Distributed
import Forwardcast
import ForwardcastDistributed
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Message<(Int) -> Int> { public static var note: Self { .init("note:") } }
extension Message<(Talk) -> Talk> { public static var say: Self { .init("say:") } }

/// A value of several fields.
public struct Talk: Codable, Sendable {
  public let number: Int
  public let room: String
  public let author: String
  public let text: String
  public let tags: [String]

  public init(number: Int, room: String, author: String, text: String, tags: [String]) {
    (self.number, self.room, self.author, self.text, self.tags) = (number, room, author, text, tags)
  }
}

/// The types that the tests send between processes.
public let peerTypes = KnownTypes(["Talk": Talk.self])

/// Served by the other process: writes each received number to a file, in execution order.
public final class Journal: MessageReceiver, Sendable {
  private let file: Int32

  public init(_ path: String) { file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

  deinit { close(file) }

  private func write(_ number: Int) -> Int {
    var line = Array("\(number)\n".utf8)
    #if canImport(Darwin)
      _ = Darwin.write(file, &line, line.count)
    #else
      _ = Glibc.write(file, &line, line.count)
    #endif
    return number
  }

  public static let selectorTable = SelectorTable(for: Journal.self) {
    Responds(to: .note) { journal, number in journal.write(number) }
  }
}

/// A hand-written distributed method, for comparison.
public distributed actor HandWritten {
  public typealias ActorSystem = PipeActorSystem
  private var sum = 0
  public init(actorSystem: PipeActorSystem) { self.actorSystem = actorSystem }
  public distributed func add(_ number: Int) -> Int {
    sum &+= number
    return number
  }
  public distributed func say(_ talk: Talk) -> Talk { talk }
}

/// An actor that is generic in its engine, like an endpoint, and only returns a text.
public distributed actor TextCarrier<ActorSystem>
where ActorSystem: DistributedActorSystem<any Codable> {
  public init(actorSystem: ActorSystem) { self.actorSystem = actorSystem }
  public distributed func carry(_ text: String) async -> String { text }
}

/// The receiver of the compared message.
public final class Adder: MessageReceiver, Sendable {
  public init() {}
  public static let selectorTable = SelectorTable(for: Adder.self) {
    Responds(to: .note) { _, number in number }
    Responds(to: .say) { _, talk in talk }
  }
}

/// A process that runs `distributed-peer serve`, and this end of the pipes to it.
public final class PeerProcess: Sendable {
  public let system: PipeActorSystem
  public let identifier: Int32
  private let process: UncheckedProcess
  private let pipes: [Pipe]

  private final class UncheckedProcess: @unchecked Sendable {  // started once; then used by its owner only, for waiting
    let process = Process()
  }

  /// Starts the process.
  public init(_ executable: URL, journal: String, faults: PipeFaults = PipeFaults()) throws {
    let (input, output) = (Pipe(), Pipe())
    process = UncheckedProcess()
    process.process.executableURL = executable
    process.process.arguments = ["serve", journal]
    process.process.standardInput = output
    process.process.standardOutput = input
    try process.process.run()
    pipes = [input, output]
    identifier = process.process.processIdentifier
    system = PipeActorSystem(
      reading: input.fileHandleForReading.fileDescriptor, writing: output.fileHandleForWriting.fileDescriptor,
      faults: faults)
    system.start()
  }

  /// The endpoint with the given name in the other process.
  public func endpoint(_ name: String) throws -> MessageEndpoint<PipeActorSystem> {
    try MessageEndpoint<PipeActorSystem>.resolve(id: PipeActorID(name), using: system)
  }

  /// Stops the process and waits until all its threads have stopped, so that none answers.
  public func pause() {
    kill(identifier, SIGSTOP)
    var status = siginfo_t()
    while waitid(P_PID, id_t(identifier), &status, WSTOPPED) == -1, errno == EINTR {}
  }

  public func goOn() { kill(identifier, SIGCONT) }

  /// Kills the process and waits for its end. May be called on any thread, and repeatedly.
  public func kill() {
    kill(identifier, SIGKILL)
    process.process.waitUntilExit()
    system.ended.wait()
    system.ended.signal()
  }

  private func kill(_ identifier: Int32, _ signal: Int32) {
    #if canImport(Darwin)
      _ = Darwin.kill(identifier, signal)
    #else
      _ = Glibc.kill(identifier, signal)
    #endif
  }
}

/// The resources that a process has used, as reported by Linux.
public struct ProcessUse {
  /// The peak memory in bytes.
  public let largest: Int
  /// Processor time in seconds, including the system's.
  public let seconds: Double

  public init(_ identifier: Int32) throws {
    let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    largest = (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    let stat = try String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    let fields = stat.split(separator: " ").compactMap { Double($0) }
    // utime and stime in hundredths, after ten other numbers; name and state are not numbers.
    seconds = (fields[11] + fields[12]) / 100
  }
}
