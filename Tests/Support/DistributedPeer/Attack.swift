// Attack.swift: what attacks cost the process that is attacked.

import Foundation
import PipeActorSystem

/// Makes each attack on a process of its own, and prints its largest memory, its processor time, and what was answered. One that
/// is not answered is ended after a minute.
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
