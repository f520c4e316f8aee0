// RemoteAdmission.swift: connects to endpoints as they are discovered.

public import Distributed
import Forwardcast

/// Connects to endpoints, concurrently, as an engine discovers them, and retries endpoints that
/// cannot be reached. <doc:OtherProcesses> has an example.
///
/// An error of one endpoint does not affect other endpoints. An endpoint that refuses, or whose
/// answer cannot be read, is not retried.
public struct RemoteAdmission<ActorSystem>: Sendable where ActorSystem: DistributedActorSystem<any Codable> {
  /// The outcome for an endpoint.
  public enum Event: Sendable {
    /// The endpoint is connected. The identity distinguishes it from a successor of the same name.
    case admitted(RemoteReceiver, ActorSystem.ActorID)
    /// The connection failed. `triesAgain` says whether another attempt follows.
    case refused(ActorSystem.ActorID, RemoteError, triesAgain: Bool)
    /// The discovery ended, perhaps with an error. Attempts to connect to known endpoints continue.
    case searchEnded((any Error)?)
  }

  /// The options of each receiver.
  public var options: RemoteOptions
  /// When and how often to retry.
  public var backoff: RemoteBackoff
  /// The name of an endpoint in errors.
  public var name: @Sendable (ActorSystem.ActorID) -> String

  /// Creates an admission with these properties.
  public init(
    options: RemoteOptions = RemoteOptions(), backoff: RemoteBackoff = RemoteBackoff(attempts: 8),
    name: @escaping @Sendable (ActorSystem.ActorID) -> String = { "\($0)" }
  ) {
    (self.options, self.backoff, self.name) = (options, backoff, name)
  }

  /// Connects to each endpoint of a sequence. The stream ends when no more events can follow.
  /// Attempts stop if the stream is released.
  ///
  /// - Parameter found: the endpoints as they are discovered. A repeated endpoint is connected only
  ///   if its receiver has ended or was released.
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

  /// Connects to an endpoint, with retries. Returns `nil` if the last attempt failed.
  private func connect(
    to endpoint: MessageEndpoint<ActorSystem>, _ events: AsyncStream<Event>.Continuation
  ) async -> RemoteReceiver? {
    var attempts = 0
    while true {
      do {
        return try await RemoteReceiver(connectingTo: endpoint, name: name(endpoint.id), options: options)
      } catch {
        guard let error = error as? RemoteError else { return nil }  // the task was canceled
        let isFinal = [.refused, .malformedAnswer].contains(error.code)
        let triesAgain = !isFinal && attempts < backoff.attempts ?? .max
        events.yield(.refused(endpoint.id, error, triesAgain: triesAgain))
        guard triesAgain, await backoff.wait(before: attempts) else { return nil }
        attempts += 1
      }
    }
  }
}

/// The endpoints with a connection, or with an attempt to connect.
private final class KnownEndpoints<ID: Hashable & Sendable>: Sendable {
  /// For each endpoint, a function that says whether it is still known.
  private let known = Guarded<[ID: @Sendable () -> Bool]>([:])

  /// Makes an endpoint known. Returns `false` if it is known already. Called by one task only.
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
