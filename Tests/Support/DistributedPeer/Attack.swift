// Attack.swift: measures what attacks cost the attacked process.

import Foundation
import PipeActorSystem

/// Runs each attack on a separate process, and prints that process's peak memory, its processor
/// time and its replies. An attack without a reply ends after a minute.
func measureAttacks(_ kind: String?) async throws {
  for attack in HostilePeer.Attack.allCases where kind == nil || kind == attack.rawValue {
    let peer = try PeerProcess(URL(filePath: CommandLine.arguments[0]), journal: "/dev/null")
    let door = try peer.endpoint("adder")
    let hostile = HostilePeer { text in try await door.receive(text) }
    let late = Task {
      try await Task.sleep(for: .seconds(60))
      peer.system.cut()
    }
    let replies = try? await hostile.make(attack)
    late.cancel()
    let use = try ProcessUse(peer.identifier)
    let answers = (replies ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    let line = "\(attack): \(use.largest >> 20) MiB, \(use.seconds) s, \(answers)\n"
    FileHandle.standardOutput.write(Data(line.utf8))
    peer.kill()
  }
}
