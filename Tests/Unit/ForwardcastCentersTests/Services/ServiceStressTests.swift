// ServiceStressTests.swift: 64 threads and twenty services that request each other.

import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport
import Testing

extension Centers {
  @Suite("Stress")
  struct ServiceStressTests {
    private static let services = 20

    /// Service *n* requests earlier ones in a different order in its constructor and hook.
    @Sendable private static func key(_ index: Int, _ made: Tally) -> ServiceKey<Hooked> {
      ServiceKey("s\(index)") { center in
        made.count(index)
        for step in [7, 3, 1] where index >= step { _ = try center.service(key(index - step, made)) }
        return Hooked(isPersistent: index % 5 == 0) { center in
          for step in [2, 5] where index >= step { _ = try center.service(key(index - step, made)) }
          made.finish(index)
        }
      }
    }

    /// The number of times that each service was created and completed.
    final class Tally: Sendable {
      private let counts = Locked<[(made: Int, finished: Int)]>(
        Array(repeating: (made: 0, finished: 0), count: ServiceStressTests.services))
      func count(_ index: Int) { counts.withLock { $0[index].made += 1 } }
      func finish(_ index: Int) { counts.withLock { $0[index].finished += 1 } }
      var all: [(made: Int, finished: Int)] { counts.withLock { $0 } }
      func isFinished(_ index: Int) -> Bool { counts.withLock { $0[index].finished > 0 } }
    }

    @Test("64 threads that request 20 interdependent services create each once, without a deadlock")
    func madeOnce() {
      for round in 0..<5 {
        let (center, made) = (ServiceCenter(), Tally())
        let wrong = Journal()
        let seen = Locked<[Int: Set<ObjectIdentifier>]>([:])
        let ended = onThreads(64) { thread in
          for step in 0..<ServiceStressTests.services {
            let index = (thread * 7 + step * (round % 2 == 0 ? 1 : 19)) % ServiceStressTests.services
            do {
              let service = try center.service(ServiceStressTests.key(index, made))
              if !made.isFinished(index) { wrong.write("s\(index) seen early") }
              seen.withLock { _ = $0[index, default: []].insert(ObjectIdentifier(service)) }
            } catch { wrong.write("\(error)") }
          }
        }
        expect(ended)
        expect(wrong.all, equals: [])
        expect(made.all.allSatisfy { $0.made == 1 && $0.finished == 1 })
        expect(seen.withLock { $0.values.allSatisfy { $0.count == 1 } })
        expect(center.services.count, equals: ServiceStressTests.services)
      }
    }

    @Test("64 threads that also log out and remove services end without errors and without duplicates")
    func withRemovals() {
      let (center, made) = (ServiceCenter(), Tally())
      let wrong = Journal()
      center.onError = { wrong.write("\($0)") }
      let ended = onThreads(64) { thread in
        for step in 0..<40 {
          let index = (thread * 7 + step) % ServiceStressTests.services
          if thread % 16 == 0, step % 4 == 0 { center.clearData() }
          if thread % 16 == 1 { center.remove(ServiceStressTests.key(index, made)) }
          do { _ = try center.service(ServiceStressTests.key(index, made)) } catch { wrong.write("\(error)") }
        }
      }
      expect(ended)
      expect(wrong.all, equals: [])
      expect(Set(center.services.map(\.name)).count, equals: center.services.count)
      for index in 0..<ServiceStressTests.services {
        #expect(throws: Never.self) { try center.service(ServiceStressTests.key(index, made)) }
      }
      expect(center.services.count, equals: ServiceStressTests.services)
    }

    @Test("threads that request services in cycles never hang: each gets a service or an error")
    func rings() {
      // Service n requests n + 1 and n + 3 of 20, in cycles; every fourth ignores errors.
      @Sendable func key(_ index: Int) -> ServiceKey<Int> {
        ServiceKey("r\(index)") { center in
          for step in [1, 3] {
            do { _ = try center.service(key((index + step) % ServiceStressTests.services)) } catch {
              if index % 4 != 0 { throw error }
            }
          }
          return index
        }
      }
      let center = ServiceCenter()
      let wrong = Journal()
      let ended = onThreads(64) { thread in
        for step in 0..<20 {
          do { _ = try center.service(key((thread + step * 3) % ServiceStressTests.services)) } catch {
            if (error as? ServiceError)?.code != .constructionCycle { wrong.write("\(error)") }
          }
          if thread % 8 == 0 { center.clearData() }
        }
      }
      expect(ended)
      expect(wrong.all, equals: [])
    }
  }
}
