// AdmissionTests.swift: connects receivers to discovered endpoints.

import Distributed
import Forwardcast
import PipeActorSystem
import TestSupport
import Testing

@testable import ForwardcastDistributed

@Suite("Admission", .whenQuiet)
struct AdmissionTests {
  private let system = LocalTestingDistributedActorSystem()

  private func endpoint(_ limits: MessageLimits = MessageLimits()) -> LocalEndpoint {
    LocalEndpoint(Worker(), for: Worker.selectorTable, types: knownTypes, limits: limits, actorSystem: system)
  }

  @Test("admission connects to each discovered endpoint once, and one that cannot be reached delays no other")
  func found() async throws {
    let (near, far) = (endpoint(), endpoint())
    var ids: Set<LocalTestingActorID> = []
    // A running message occupies its only line until it is released.
    let busyWorker = Worker()
    let busy = LocalEndpoint(
      busyWorker, for: Worker.selectorTable, types: knownTypes, limits: MessageLimits(lines: 1), actorSystem: system)
    let holder = try await connect(busy)
    let held = Task { try await holder.sendAndWait(.hold, 1) }
    await until(!busyWorker.words.isEmpty)

    let (found, finding) = AsyncStream.makeStream(of: LocalEndpoint.self)
    for endpoint in [busy, near, near, far] { finding.yield(endpoint) }
    let admission = RemoteAdmission<LocalTestingDistributedActorSystem>(
      options: RemoteOptions(deadline: unhurried, types: knownTypes),
      backoff: RemoteBackoff(first: .milliseconds(1), longest: .milliseconds(1)),
      name: { [ids = [busy.id: "busy", near.id: "near", far.id: "far"]] in ids[$0] ?? "?" })
    var admitted: [RemoteReceiver] = []
    var refusals = 0
    for await event in admission.events(of: found) {
      switch event {
      case .admitted(let receiver, let id):
        expect(receiver.endpointID as? LocalTestingActorID == id && ids.insert(id).inserted)
        admitted.append(receiver)
        if admitted.count == 3 { finding.finish() }
      case .refused(let id, let error, let triesAgain):
        expect(id == busy.id && error.peer == "busy" && error.code == .busy && triesAgain)
        refusals += 1
        // The others did not wait for it.
        if admitted.count == 2 { busyWorker.gate.open() }
      case .searchEnded(let error): expect(error == nil && admitted.count == 3)
      }
    }
    expect(ids == [busy.id, near.id, far.id])
    expect(admitted.map(\.name).sorted() == ["busy", "far", "near"] && admitted.last?.name == "busy")
    expect(refusals > 0)
    try await expect(held.value, equals: 1)
  }

  @Test("an endpoint that refuses permanently is reported once, and so is an error of the discovery")
  func refused() async throws {
    let closed = endpoint()
    await closed.close("it is full")
    // The request for a line exceeds its limit of items.
    let narrow = LocalEndpoint(
      Worker(), for: Worker.selectorTable, types: knownTypes, limits: MessageLimits(items: 1), actorSystem: system)
    let found = AsyncThrowingStream<LocalEndpoint, any Error> { finding in
      finding.yield(closed)
      finding.yield(narrow)
      finding.finish(throwing: Burnt(description: "no receptionist"))
    }
    let admission = RemoteAdmission<LocalTestingDistributedActorSystem>(
      options: RemoteOptions(deadline: unhurried), backoff: RemoteBackoff(first: .zero, attempts: 2),
      name: { [id = closed.id] in $0 == id ? "closed" : "narrow" })
    var told: [String] = []
    for await event in admission.events(of: found) {
      switch event {
      case .admitted(let receiver, _): told.append("\(receiver)")
      case .refused(_, let error, let triesAgain):
        told.append("\(error.peer) \(error.code) \(triesAgain)")
      case .searchEnded(let error): told.append(error.map { "\($0)" } ?? "end")
      }
    }
    expect(
      told.sorted(),
      equals: [
        "closed receiver gone false", "closed receiver gone true", "closed receiver gone true", "narrow refused false",
        "no receptionist",
      ])
  }

  @Test("an endpoint that is discovered again is connected to again only if its receiver has ended")
  func foundAgain() async throws {
    let door = endpoint()
    let (found, finding) = AsyncStream.makeStream(of: LocalEndpoint.self)
    let admission = RemoteAdmission<LocalTestingDistributedActorSystem>(options: RemoteOptions(deadline: unhurried))
    finding.yield(door)
    var admitted: [RemoteReceiver] = []
    for await event in admission.events(of: found) {
      guard case .admitted(let receiver, _) = event else { continue }
      admitted.append(receiver)
      guard admitted.count == 1 else {
        finding.finish()
        continue
      }
      receiver.end("left")
      finding.yield(door)
    }
    expect(admitted.count == 2 && admitted[0] !== admitted[1])
  }
}
