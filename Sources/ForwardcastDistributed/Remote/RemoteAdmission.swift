// RemoteAdmission.swift: receivers for endpoints, as they are found.

public import Distributed
import Forwardcast

/// Connects to endpoints as an engine finds them, all at the same time, and tries again those that cannot be reached.
///
///     let admission = RemoteAdmission<ClusterSystem>(
///       options: RemoteOptions(types: roomTypes, givesUpAfter: 1))
///     let found = await system.receptionist.listing(of: .members)
///     for await event in admission.events(of: found) {
///       switch event {
///       case .admitted(let member, _):
///         room.add(remote: member, whenGone: .keepsTrying(RemoteBackoff()))
///       case .refused(let id, let error, let triesAgain): print(id, error, triesAgain)
///       case .searchEnded(let error): print("nobody is found any more", error as Any)
///       }
///     }
///
/// One that is slow, or cannot be reached, delays no other, and its error ends nothing. Only what cannot become better is not
/// tried again: an endpoint that refuses, or whose answer cannot be read.
public struct RemoteAdmission<ActorSystem>: Sendable
where ActorSystem: DistributedActorSystem<any Codable> {
  /// What became of an endpoint.
  public enum Event: Sendable {
    /// It is connected. With its identity, by which an engine says what becomes of it: a name may be that of its successor.
    case admitted(RemoteReceiver, ActorSystem.ActorID)
    /// It could not be connected to, and whether it is tried again.
    case refused(ActorSystem.ActorID, RemoteError, triesAgain: Bool)
    /// No more are found, with the error of the search if it ended in one. Those that were found are still connected to.
    case searchEnded((any Error)?)
  }

  /// For each receiver: deadlines, bounds and types.
  public var options: RemoteOptions
  /// How often an endpoint is tried again.
  public var backoff: RemoteBackoff
  /// What errors call an endpoint.
  public var name: @Sendable (ActorSystem.ActorID) -> String

  /// An admission; each as its property says.
  public init(
    options: RemoteOptions = RemoteOptions(), backoff: RemoteBackoff = RemoteBackoff(attempts: 8),
    name: @escaping @Sendable (ActorSystem.ActorID) -> String = { "\($0)" }
  ) {
    (self.options, self.backoff, self.name) = (options, backoff, name)
  }

  /// Connects to each endpoint of a sequence, and tells what became of it. The events end when all is told, or nobody reads them.
  ///
  /// An endpoint that is found again is connected to again only when its receiver has ended, or nobody keeps it.
  /// - Parameter found: endpoints as they are discovered, the same one as often as it is seen.
  public func events<Found: AsyncSequence & Sendable>(of found: Found) -> AsyncStream<Event>
  where Found.Element == MessageEndpoint<ActorSystem> {
    AsyncStream { events in
      let task = Task {
        let known = KnownEndpoints<ActorSystem.ActorID>()
        await withDiscardingTaskGroup { group in
          var failure: (any Error)?
          do {
            for try await endpoint in found where known.begin(endpoint.id) {
              group.addTask {
                let receiver = await connect(to: endpoint, events)
                known.end(endpoint.id, receiver)
                if let receiver { events.yield(.admitted(receiver, endpoint.id)) }
              }
            }
          } catch {
            failure = error
          }
          events.yield(.searchEnded(failure))
        }
        events.finish()
      }
      events.onTermination = { _ in task.cancel() }
    }
  }

  /// The receiver, once the endpoint answers; `nil` when it is not tried any more.
  private func connect(
    to endpoint: MessageEndpoint<ActorSystem>, _ events: AsyncStream<Event>.Continuation
  ) async -> RemoteReceiver? {
    var attempts = 0
    while true {
      do {
        return try await RemoteReceiver(connectingTo: endpoint, name: name(endpoint.id), options: options)
      } catch {
        guard let error = error as? RemoteError else { return nil }  // or it is cancelled
        let isFinal = [.refused, .malformedAnswer].contains(error.code)
        let triesAgain = !isFinal && attempts < backoff.attempts ?? .max
        events.yield(.refused(endpoint.id, error, triesAgain: triesAgain))
        guard triesAgain, await backoff.wait(before: attempts) else { return nil }
        attempts += 1
      }
    }
  }
}

/// The endpoints that are connected to, or are being connected to.
private final class KnownEndpoints<ID: Hashable & Sendable>: Sendable {
  /// For each whether it still is.
  private let known = Guarded<[ID: @Sendable () -> Bool]>([:])

  /// Whether an endpoint is to be connected to; it counts as known from then on. Only one task asks.
  func begin(_ id: ID) -> Bool {
    if let isKnown = known.withLock({ $0[id] }), isKnown() { return false }
    known.withLock { $0[id] = { true } }
    return true
  }

  func end(_ id: ID, _ receiver: RemoteReceiver?) {
    let isKnown = receiver.map { receiver in { @Sendable [weak receiver] in receiver?.presence.isEnd == false } }
    known.withLock { $0[id] = isKnown }
  }
}
