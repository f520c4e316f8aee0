// MulticastProxy+Recording.swift: targets whose messages are recorded.
// Layer: Recording, Calls. See the article "How recording and undo work".

import Forwardcast

extension MulticastProxy {
  /// Registers a target, and keeps every message to it with what came of it.
  ///
  ///     let recorder = CallRecorder()
  ///     stores.add(archive, recordedBy: recorder, as: "archive")     // a MulticastProxy<any Store>
  ///     stores.face…                                                 // typed calls are recorded too
  ///
  /// The target needs no table where the proxy has one. Messages reach it by boxes, in the sender's turn. The
  /// registration is that of the recording: its target is not listed in `targets`, and is removed through the
  /// registration.
  ///
  /// - Parameters:
  ///   - target: who gets the messages.
  ///   - recorder: what keeps the calls.
  ///   - name: the name under which the target is recorded; that of its type unless given.
  ///   - priority: as for `add(_:priority:ownership:only:)`.
  ///   - ownership: `.weak` lets the target die, after which nothing is recorded.
  @discardableResult
  public func add(
    _ target: Interface, recordedBy recorder: CallRecorder, as name: String? = nil, priority: Int = 0,
    ownership: Ownership = .weak
  ) -> Registration {
    let behind = inner(target, ownership)
    return add(
      forwarding: RecordingProxy(of: behind, as: name ?? typeName(of: targetObject(for: target)), into: recorder),
      priority: priority)
  }

  /// A proxy of the same interface with one target.
  private func inner(_ target: Interface, _ ownership: Ownership) -> MulticastProxy {
    let inner = MulticastProxy(table: interfaceTable, options: MulticastOptions(silence: .thrown))
    inner.add(target, ownership: ownership)
    return inner
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a target, and keeps every message to it with what came of it; senders that wait reach methods of any
  /// isolation.
  @discardableResult
  public func add(
    _ target: Interface, recordedBy recorder: CallRecorder, as name: String? = nil, priority: Int = 0,
    ownership: Ownership = .weak
  ) -> Registration {
    let behind = inner(target, ownership)
    return add(
      forwarding: RecordingProxy(of: behind, as: name ?? typeName(of: targetObject(for: target)), into: recorder),
      priority: priority)
  }
}
