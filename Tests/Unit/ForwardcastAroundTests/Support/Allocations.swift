// Allocations.swift: what messages ask of the memory, counted.

import AllocationCounter
import Forwardcast
import Testing

/// How many allocations a hundred messages ask for, when a few have gone before. Counted again where another test has changed
/// a table meanwhile: every proxy then makes its routes anew.
func allocations(_ send: () throws -> Void) throws -> Int {
  while true {
    let epoch = TableEpoch.current
    for _ in 0..<4 { try send() }
    let count = try #require(try AllocationCounter.count(.thisThread) { for _ in 0..<100 { try send() } })
    if TableEpoch.current == epoch { return count }
  }
}
