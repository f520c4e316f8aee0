// ServiceThreadTests.swift: services that many threads request concurrently.

import CoreTestSupport
import Dispatch
import Forwardcast
import ForwardcastCenters
import Synchronization
import TestSupport
import Testing

extension Centers {
  @Suite("Threads")
  struct ServiceThreadTests {
    /// A constructor that signals its start and waits until it may end.
    private func held(_ name: String, _ began: Latch, _ mayEnd: Latch) -> ServiceKey<Witness> {
      let counter = LeakCounter()
      return ServiceKey(name) { _ in
        began.open()
        mayEnd.pass()
        return Witness(counter)
      }
    }

    @Test("sixteen concurrent requests get one instance, and its init hook has returned")
    func once() {
      let (center, journal) = (ServiceCenter(), Journal())
      let done = Atomic<Bool>(false)
      let key = ServiceKey("once") { _ in
        journal.write("made")
        return Hooked { _ in done.store(true, ordering: .releasing) }
      }
      let seen = Locked<Set<ObjectIdentifier>>([])
      let ended = onThreads(16) { _ in
        guard let service = try? center.service(key) else { return }
        if !done.load(ordering: .acquiring) { journal.write("seen early") }
        seen.withLock { _ = $0.insert(ObjectIdentifier(service)) }
      }
      expect(ended)
      expect(journal.all, equals: ["made"])
      expect(seen.withLock { $0.count }, equals: 1)
    }

    @Test("a slow constructor delays only requests for its own service")
    func slow() throws {
      let center = ServiceCenter()
      let (began, mayEnd) = (Latch(), Latch())
      let slow = held("slow", began, mayEnd)
      let results = Journal()
      let ended = onThreads(2) { index in
        if index == 0 {
          _ = try? center.service(slow)
          results.write("slow")
        } else {
          began.pass()
          _ = try? center.service(SettingsService.self)
          _ = center.existing(slow)
          center.remove(slow)
          results.write("other")
          mayEnd.open()
        }
      }
      expect(ended)
      expect(results.all, equals: ["other", "slow"])
      expect(center.existing(slow) != nil)
    }

    @Test("a constructor may wait for another thread that requests another service")
    func waitsForOther() throws {
      let center = ServiceCenter()
      let key = ServiceKey<String>("patient") { center in
        let answer = Locked<String?>(nil)
        let end = DispatchGroup()
        DispatchQueue.global().async(group: end) {
          let service = try? center.service(SettingsService.self)
          answer.withLock { $0 = service?.language }
        }
        return end.wait(timeout: .now() + 600) == .success ? answer.withLock { $0 } ?? "none" : "hung"
      }
      try expect(center.service(key), equals: "en")
    }

    @Test("a cycle across threads is an error with the whole chain on every thread, and no deadlock")
    func crossCycle() {
      let center = ServiceCenter()
      let size = 4
      let inside = DispatchGroup()
      for _ in 0..<size { inside.enter() }
      // Each service is under construction before any requests the next.
      let met = Atomic<Int>(0)
      @Sendable func key(_ index: Int) -> ServiceKey<Int> {
        ServiceKey("s\(index)") { center in
          if met.wrappingAdd(1, ordering: .relaxed).newValue <= size { inside.leave() }
          _ = inside.wait(timeout: .now() + 600)
          return try center.service(key((index + 1) % size)) + 1
        }
      }
      let errors = Locked<[ServiceError]>([])
      let ended = onThreads(size) { index in
        do { _ = try center.service(key(index)) } catch {
          if let error = error as? ServiceError { errors.withLock { $0.append(error) } }
        }
      }
      expect(ended)
      let all = errors.withLock { $0 }
      expect(all.count, equals: size)
      for error in all {
        expect(error.code, equals: .constructionCycle)
        expect(error.chain.first, equals: error.chain.last)
        expect(Set(error.chain), equals: ["s0", "s1", "s2", "s3"])
      }
      expect(center.services.isEmpty)
    }

    @Test("requests that waited for a failed construction get its error, and the next request tries again")
    func sharedFailure() throws {
      let center = ServiceCenter()
      let tries = Atomic<Int>(0)
      let (began, mayEnd) = (Latch(), Latch())
      let key = ServiceKey<Int>("failing") { _ in
        if tries.wrappingAdd(1, ordering: .relaxed).newValue > 1 { return 7 }
        began.open()
        mayEnd.pass()
        throw TargetError(name: "first")
      }
      let failures = Journal()
      let ended = onThreads(3) { index in
        if index == 2 {
          began.pass()
          mayEnd.open()
        } else {
          do { _ = try center.service(key) } catch { failures.write("\(error)") }
        }
      }
      expect(ended)
      // The second thread either waited for the first attempt or came after it.
      expect(Set(failures.all), equals: ["refused by first"])
      try expect(center.service(key), equals: 7)
    }

    @Test(
      "a service that is being created during a logout is notified, and recreated unless it persists",
      arguments: [false, true])
    func clearDuringConstruction(persists: Bool) throws {
      let (center, journal) = try ServiceCenter.journaled()
      let (began, mayEnd) = (Latch(), Latch())
      let key = ServiceKey("held") { center in
        let account = try center.service(AccountService.self)
        began.open()
        mayEnd.pass()
        return Hooked(
          isPersistent: persists,
          { _ in
            if center.existing(AccountService.self) !== account { journal.write("held is stale") }
          }, clear: { journal.write("held will clear") })
      }
      let ended = onThreads(2) { index in
        if index == 0 {
          _ = try? center.service(key)
        } else {
          began.pass()
          center.clearData()
          mayEnd.open()
        }
      }
      expect(ended)
      let told = ["account made", "account did init", "account will clear", "held is stale", "held will clear"]
      // The second attempt gets new services, including the journal.
      expect(journal.all, equals: persists ? told : told + ["account gone"])
      expect(center.services.map(\.name), equals: persists ? ["held"] : ["journal", "AccountService", "held"])
    }
  }
}
