// Allocations.swift: counts the allocations of messages.

import AllocationCounter
import Forwardcast
import Testing

/// The number of allocations of a hundred messages, after a few warm-up messages. Counts again if
/// another test changed a table meanwhile, since every proxy then rebuilds its routes.
func allocations(_ send: () throws -> Void) throws -> Int {
  var last = -1
  while true {
    let epoch = TableEpoch.current
    for _ in 0..<4 { try send() }
    let count = try #require(try AllocationCounter.count(.thisThread) { for _ in 0..<100 { try send() } })
    if TableEpoch.current == epoch, count == last { return count }
    last = count
  }
}
