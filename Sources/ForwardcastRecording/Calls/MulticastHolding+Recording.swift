// MulticastHolding+Recording.swift: records the messages to a target.

import Forwardcast

extension MulticastHolding {
  /// Registers a target, and records every message to the target with the message's outcome.
  ///
  ///     let recorder = CallRecorder()
  ///     let store = StoreProxy()
  ///     store.add(archive, recordedBy: recorder, as: "archive")
  ///     store.save("a", count: 1)
  ///     print(recorder.recording)  // [archive save: "a" count: 1]
  ///
  /// Calls by closure, `broadcast { $0.save() }`, do not reach the target. The target
  /// receives boxed messages and runs synchronously. It needs no table if the proxy has one.
  /// Adding a target again records each call again. `remove`, `mute` and `targets` find an object by
  /// its identity, but `replace` does not. To remove a recorded value, cancel the registration.
  ///
  /// `name` is the target's name in the recording, by default the name of its type. With `.weak`,
  /// nothing is recorded after the target's deallocation.
  @discardableResult
  public func add(
    _ target: Interface, recordedBy recorder: CallRecorder, as name: String? = nil, priority: Int = 0,
    ownership: Ownership = .weak
  ) -> Registration {
    record(target, recorder, name, priority, ownership, crosses: false)
  }

  private func record(
    _ target: Interface, _ recorder: CallRecorder, _ name: String?, _ priority: Int, _ ownership: Ownership,
    crosses: Bool
  ) -> Registration {
    let inner = MulticastProxy<Interface>(
      table: multicast.interfaceTable, options: MulticastOptions(noResponder: .throw))
    inner.add(target, ownership: ownership)
    let object = targetObject(for: target)
    let recording = RecordingProxy(inner, inner, name ?? typeName(of: object), recorder, crosses)
    // The registration cannot follow the lifetime of a value, so the inner proxy retains the value.
    let subject = object is ValueTarget ? nil : object
    let registration = multicast.add(forwarding: recording, priority: priority, livingAs: subject)
    if subject != nil { recording.cancelWhenDead(registration) }
    return registration
  }
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a target and records every message to it. Waiting senders can call methods of any
  /// isolation. Otherwise as the overload for interfaces that are not `Sendable`.
  @discardableResult
  public func add(
    _ target: Interface, recordedBy recorder: CallRecorder, as name: String? = nil, priority: Int = 0,
    ownership: Ownership = .weak
  ) -> Registration {
    record(target, recorder, name, priority, ownership, crosses: true)
  }
}
