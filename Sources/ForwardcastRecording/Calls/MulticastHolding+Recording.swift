// MulticastHolding+Recording.swift: targets whose messages are recorded.

import Forwardcast

extension MulticastHolding {
  /// Registers a target, and keeps every message to it with what came of it.
  ///
  ///     let recorder = CallRecorder()
  ///     let store = StoreProxy()
  ///     store.add(archive, recordedBy: recorder, as: "archive")
  ///     store.save("a", count: 1)
  ///     print(recorder.recording)              // [archive save: "a" count: 1]
  ///
  /// Typed calls are recorded too, and the target needs no table where the proxy has one. Messages reach it by boxes, in
  /// the sender's turn. The registration is that of the recording: its target is not listed in `targets`, and is removed
  /// through the registration.
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
    record(target, recorder, name, priority, ownership, crosses: false)
  }

  /// Registers a recording of a proxy of the same interface that has the one target.
  private func record(
    _ target: Interface, _ recorder: CallRecorder, _ name: String?, _ priority: Int, _ ownership: Ownership,
    crosses: Bool
  ) -> Registration {
    let inner = MulticastProxy<Interface>(table: multicast.interfaceTable, options: MulticastOptions(silence: .thrown))
    inner.add(target, ownership: ownership)
    let object = targetObject(for: target)
    let recording = RecordingProxy(inner, inner, name ?? typeName(of: object), recorder, crosses)
    // Nobody else has a value: the inner proxy keeps it.
    let isWeak = ownership == .weak && !(object is ValueTarget)
    let registration = multicast.add(forwarding: recording, priority: priority, livingAs: isWeak ? object : nil)
    if isWeak { recording.cancel(registration, whenGone: object) }
    return registration
  }
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a target, and keeps every message to it with what came of it; senders that wait reach methods of any
  /// isolation. See the form for one isolation.
  @discardableResult
  public func add(
    _ target: Interface, recordedBy recorder: CallRecorder, as name: String? = nil, priority: Int = 0,
    ownership: Ownership = .weak
  ) -> Registration {
    record(target, recorder, name, priority, ownership, crosses: true)
  }
}
