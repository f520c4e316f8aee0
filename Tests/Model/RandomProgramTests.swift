// RandomProgramTests.swift: random programs do what the reference does.
// FORWARDCAST_MODEL_PROGRAMS=100000 FORWARDCAST_MODEL_SEED=1 compares as many, from that seed on.

import TestSupport
import Testing

@Suite("Random programs")
struct RandomProgramTests {
  @Test("do what the reference does", .oneAtATime)
  func programs() {
    let judge = Judge()
    let first = bound(1, full: 1, named: "FORWARDCAST_MODEL_SEED")
    let count = bound(300, full: 10_000, named: "FORWARDCAST_MODEL_PROGRAMS")
    let limit = bound(20, full: 20, named: "FORWARDCAST_MODEL_FOUND")
    var found: Set<Program> = []
    for seed in first..<(first + count) where found.count < limit {
      let program = ProgramGenerator.program(seed: UInt64(seed))
      if setting("FORWARDCAST_MODEL_PRINT") != nil { print("seed \(seed)\n\(program)") }
      guard judge.difference(in: program) != nil else { continue }
      let smallest = judge.shrunk(program)
      guard found.insert(smallest).inserted else { continue }
      let difference = judge.difference(in: smallest)
      Issue.record("seed \(seed)\n\(smallest)\n\(difference?.description ?? "differs once in a while")")
    }
  }
}
