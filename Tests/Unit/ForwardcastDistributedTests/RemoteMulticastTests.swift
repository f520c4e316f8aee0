// RemoteMulticastTests.swift: receivers in other processes as targets of a multicast.

import Dispatch
import Distributed
import Forwardcast
import Synchronization
import TestSupport
import Testing

@testable import ForwardcastDistributed

@Forwarded
protocol Member: AnyObject, Sendable {
  func add(_ number: Int) throws -> Int
  func rest()
  func hold(_ number: Int) throws -> Int
}

final class LocalMember: Member {
  let heard = Locked<[Int]>([])
  func add(_ number: Int) -> Int {
    heard.withLock { $0.append(number) }
    return 100
  }
  func rest() {}
  func hold(_ number: Int) -> Int { number }
}

@Suite("Remote targets", .whenQuiet)
struct RemoteMulticastTests {
  private let system = LocalTestingDistributedActorSystem()
  private let worker = Worker()
  private let failures = Locked<[String]>([])

  private func endpoint() -> LocalEndpoint {
    LocalEndpoint(worker, for: MemberProxy.table, types: knownTypes, actorSystem: system)
  }

  private func room() -> MemberProxy {
    let room = MemberProxy()
    room.onError = { [failures] failure in failures.withLock { $0.append("\(failure.error)") } }
    return room
  }

  @Test("local and remote members answer one message")
  func question() async throws {
    let (room, local) = (room(), LocalMember())
    room.add(local)
    let (one, two) = (try await connect(endpoint(), name: "one"), try await connect(endpoint(), name: "two"))
    room.add(remote: one)
    room.add(remote: two)
    try await expect(room.collectAndWait(MemberProxy.Messages.add, 5, returning: .sum), equals: 112)
    expect(room.count == 3 && room.targets.count == 1)
    expect(failures.withLock { $0 }, equals: [])
    withExtendedLifetime(local) {}
  }

  @Test("a broadcast does not wait for a remote member, which runs the messages in order")
  func broadcast() async throws {
    let room = room()
    room.add(remote: try await connect(endpoint()))
    for number in 0..<100 { expect(room.broadcast(MemberProxy.Messages.add, number).queued, equals: 1) }
    try await room.drain()
    expect(worker.words, equals: (0..<100).map { "add \($0)" })
    expect(failures.withLock { $0 }, equals: [])
  }

  @Test("a typed call of the interface reaches remote members as a message")
  func typedCall() async throws {
    let room = room()
    room.add(remote: try await connect(endpoint()))
    room.rest()
    try await room.drain()
    expect(worker.words, equals: ["rest"])
  }

  @Test("a synchronous requirement with a result throws how many remote answers it could not wait for, and still sends")
  func typedAnswers() async throws {
    let room = room()
    let nobody = try #require(throws: MessageError.self) { try room.add(1) }
    expect(nobody.code, equals: .nobodyResponds)
    for name in ["one", "two"] { room.add(remote: try await connect(endpoint(), name: name)) }
    let error = try #require(throws: MessageError.self) { try room.add(1) }
    expect(
      "\(error)".hasSuffix(
        "2 targets run on their own queues or actors, so a synchronous call cannot wait for their answers; make the requirement async or call collectAndWait"
      ))
    expect(error.code == .notAwaited && error.selector == "add:")
    try await room.drain()
    expect(worker.words, equals: ["add 1", "add 1"])
    expect(failures.withLock { $0 }, equals: [])
  }

  @Test("a broadcast to a direct remote target is reported as an error, and an awaited send gets its answer")
  func direct() async throws {
    let room = MulticastProxy<any MessageReceiver & Sendable>()
    room.onError = { [failures] failure in failures.withLock { $0.append("\(failure.error)") } }
    let remote = try await connect(endpoint())
    room.add(remote)
    expect(room.broadcast(.add, 1).failed, equals: 1)
    expect(failures.withLock { $0 }.first?.hasPrefix("isolation mismatch in 'add:' of remote worker") == true)
    try await expect(room.collectAndWait(.add, 1, returning: .sum), equals: 2)
    withExtendedLifetime(remote) {}
  }

  @Test("a direct remote member of a queued multicast answers an awaited send; a broadcast reports an error")
  func nested() async throws {
    let (outer, inner) = (
      MulticastProxy<any MessageReceiver & Sendable>(), MulticastProxy<any MessageReceiver & Sendable>()
    )
    let remote = try await connect(endpoint())
    inner.add(remote)
    inner.onError = { [failures] failure in failures.withLock { $0.append("\(failure.error)") } }
    outer.add(inner, delivery: .queue(DispatchQueue(label: "outer")))
    try await expect(outer.collectAndWait(.add, 1, returning: .sum), equals: 2)
    outer.broadcast(.add, 2)
    try await outer.drain()
    expect(failures.withLock { $0.count }, equals: 1)
    try await expect(outer.collectAndWait(.add, 3, returning: .sum), equals: 4)
    expect(worker.words, equals: ["add 1", "add 3"])
    withExtendedLifetime((inner, remote)) {}
  }

  @Test("errors of a remote member go to onError, and the other members still run")
  func errors() async throws {
    let (room, local) = (room(), LocalMember())
    let remote = try await connect(endpoint()) { envelope in
      if envelope.contains("1:k4:call") { throw Burnt(description: "no route") }
      return nil
    }
    room.add(remote: remote)
    room.add(local)
    room.broadcast(MemberProxy.Messages.add, 1)
    try await room.drain()
    expect(
      failures.withLock { $0 },
      equals: [
        "connection failed: 'add:' of worker: Burnt: no route; unknown whether the message ran"
      ])
    expect(local.heard.withLock { $0 }, equals: [1])
  }

  @Test("a member that ends keeps its registration or ends it, as its option says")
  func registrations() async throws {
    let room = room()
    let (staying, leaving) = (try await connect(endpoint(), name: "a"), try await connect(endpoint(), name: "b"))
    let kept = room.add(remote: staying)
    let ended = room.add(remote: leaving, whenGone: .endsRegistration)
    staying.end("left")
    leaving.end("left")
    expect(kept.isLive && ended.isCancelled)
    room.broadcast(MemberProxy.Messages.rest)
    try await room.drain()
    expect(failures.withLock { $0 }, equals: ["receiver gone: 'rest' of a: left; the message did not run"])
    // A receiver that has ended cannot be added.
    expect(room.add(remote: leaving, whenGone: .endsRegistration).isCancelled)
  }

  @Test("with retries, a lost member fails at once, and receives messages again when it is reachable")
  func keepsTrying() async throws {
    let (room, isAway) = (room(), Locked(false))
    let options = RemoteOptions(deadline: unhurried, givesUpAfter: 1)
    let remote = try await connect(endpoint(), options: options) { _ in
      if isAway.withLock({ $0 }) { throw Burnt(description: "no route") }
      return nil
    }
    let registration = room.add(remote: remote, whenGone: .keepsTrying(RemoteBackoff(first: .milliseconds(1))))
    isAway.withLock { $0 = true }
    for _ in 0..<2 {
      room.broadcast(MemberProxy.Messages.rest)
      try await room.drain()
    }
    expect(failures.withLock { $0.map { $0.prefix(4) } }, equals: ["conn", "rece"])
    var presences = remote.presences.makeAsyncIterator()
    isAway.withLock { $0 = false }
    while let presence = await presences.next(), presence != .connected {}
    room.rest()
    try await room.drain()
    expect(worker.words == ["rest"] && registration.isLive)
    remote.end("closed down")
    expect(registration.isCancelled)
  }

  @Test("a member that stays unreachable for the given number of attempts ends together with its registration")
  func enoughAttempts() async throws {
    let isAway = Locked(false)
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, givesUpAfter: 1)) { _ in
      if isAway.withLock({ $0 }) { throw Burnt(description: "no route") }
      return nil
    }
    let registration = room().add(
      remote: remote, whenGone: .keepsTrying(RemoteBackoff(first: .milliseconds(1), attempts: 3)))
    isAway.withLock { $0 = true }
    _ = try await remoteError { try await remote.sendAndWait(.add, 1) }
    for await presence in remote.presences { if case .ended("3 attempts to reconnect failed") = presence { break } }
    expect(registration.isCancelled)
  }

  @Test("a canceled registration starts no attempts to reach its member")
  func cancelledTrying() async throws {
    let (room, opened) = (room(), Counter())
    let remote = try await connect(endpoint()) { envelope in
      if envelope.contains("1:k4:open"), opened.add(1) > 1 { throw Burnt(description: "no route") }
      return nil
    }
    func attempts() -> Task<Void, Never>? { remote.line.state.withLock { $0.attempts } }
    let short = RemoteBackoff(first: .milliseconds(1), longest: .milliseconds(1))
    room.add(remote: remote, whenGone: .keepsTrying(RemoteBackoff(attempts: 0))).cancel()
    remote.line.lose("no route")
    expect(attempts() == nil)
    let kept = room.add(remote: remote, whenGone: .keepsTrying(short))
    let trying = attempts()
    await until(opened.value > 1)
    kept.cancel()
    await trying?.value
    expect(attempts() == nil && remote.presence == .lost("no route"))
  }

  @Test("registering one member in many rooms takes linear time", .oneAtATime)
  func manyRooms() throws {
    try Growing("registrations of a member") { count in
      let line = RemoteLine("worker", RemoteOptions(), isLocal: false) { _, _ in "" }
      line.state.withLock { $0.presence = .connected }
      let room = MulticastProxy<any MessageReceiver & Sendable>()
      let registrations = (0..<count).map { _ in room.on(Message<() -> Void>.rest) {} }
      return { for registration in registrations { line.tie(registration, .endsRegistration) } }
    }.expectLinear()
  }

  @Test("calls waiting for a stopped member are bounded, and an awaited sender waits for capacity")
  func backPressure() async throws {
    let room = room()
    let registration = room.add(remote: try await connect(endpoint()), buffer: .keepNewest(10))
    room.broadcast(MemberProxy.Messages.hold, 0)
    await until(!worker.words.isEmpty)
    var dropped = 0
    for number in 1...1000 { dropped += room.broadcast(MemberProxy.Messages.add, number).dropped }
    expect(dropped, equals: 990)
    worker.gate.open()
    try await room.drain()
    expect(worker.words, equals: ["begin 0", "end 0"] + (991...1000).map { "add \($0)" })
    withExtendedLifetime(registration) {}
  }

  @Test("a sender that waits for capacity is suspended while the member is stopped")
  func suspendedSender() async throws {
    let room = room()
    room.add(remote: try await connect(endpoint()), buffer: .suspendSender(2))
    room.broadcast(MemberProxy.Messages.hold, 0)
    await until(!worker.words.isEmpty)
    let sent = Counter()
    let sender = Task {
      for number in 1...20 {
        try await room.multicast.broadcastWhenReady(MemberProxy.Messages.add, number)
        sent.add(1)
      }
    }
    await until(sent.value >= 2)
    for _ in 0..<50 { await Task.yield() }
    expect(sent.value, equals: 2)
    worker.gate.open()
    try await sender.value
    try await room.drain()
    expect(worker.words.dropFirst(2), equals: ArraySlice((1...20).map { "add \($0)" }))
  }

  @Test("messages reach the targets of a proxy in another process, and the sender waits for them")
  func proxyBehindEndpoint() async throws {
    let (far, local) = (MemberProxy(), LocalMember())
    far.add(local, delivery: .queue(DispatchQueue(label: "far")))
    let door = LocalEndpoint(far, for: MemberProxy.table, actorSystem: system)
    let remote = try await connect(door)
    try await expect(remote.sendAndWait(MemberProxy.Messages.add, 1), equals: 100)
    expect(local.heard.withLock { $0 }, equals: [1])
  }
}
