// RouteStep.swift: one receiver of a route.

/// A registration and its target's method. A trivial type, so following a route retains nothing:
/// the ``Route`` retains the references.
@usableFromInline
struct RouteStep {
  @usableFromInline let registration: Unmanaged<Registration>
  /// `nil` for a target that is queried for each message.
  @usableFromInline let method: Unmanaged<Method>?
  /// The target, if the route retains it; `nil` if the weak reference must be loaded.
  @usableFromInline let strong: Unmanaged<AnyObject>?

  /// Retains each reference; ``release()`` releases them.
  init(_ registration: Registration, method: Method?, strong: AnyObject?) {
    self.registration = .passRetained(registration)
    self.method = method.map { .passRetained($0) }
    self.strong = strong.map { .passRetained($0) }
  }

  init(unretained registration: Unmanaged<Registration>, _ method: Unmanaged<Method>?) {
    (self.registration, self.method, strong) = (registration, method, nil)
  }

  func release() {
    registration.release()
    method?.release()
    strong?.release()
  }

  /// Moves the references to `garbage`, so that they are released after the lock.
  func release(after garbage: inout Garbage) {
    garbage.keep(registration.takeRetainedValue())
    garbage.keep(method?.takeRetainedValue())
    garbage.keep(strong?.takeRetainedValue())
  }

  func retained() -> RouteStep {
    _ = registration.retain()
    _ = method?.retain()
    _ = strong?.retain()
    return self
  }

  @export(implementation) @inline(__always)
  var isActive: Bool { registration._withUnsafeGuaranteedRef { $0.isActive } }

  @export(implementation) @inline(__always)
  var isActiveAnywhere: Bool { registration._withUnsafeGuaranteedRef { $0.isActiveAnywhere } }

  @export(implementation) @inline(__always)
  var functionType: ObjectIdentifier? { method?._withUnsafeGuaranteedRef { $0.functionType } }

  /// The function type by which a loop may call the method; `nil` if no loop may serve the step.
  var loopType: ObjectIdentifier? { functionType }

  @export(implementation) @inline(__always)
  var target: AnyObject? {
    if let strong { return strong.takeUnretainedValue() }
    return registration._withUnsafeGuaranteedRef { $0.weakTarget }
  }

  /// True if there is a method and the table did not refuse its row.
  var answers: Bool { method?._withUnsafeGuaranteedRef { !$0.isRefusal } ?? false }

  var queued: QueuedState? { registration._withUnsafeGuaranteedRef { $0.queued } }

  /// Read with the proxy's lock held.
  var priority: Int16 { registration._withUnsafeGuaranteedRef { $0.storedPriority } }

  /// Calls the method, whose types must be those of `arguments` and `R`. Returns `nil` if the
  /// target is deallocated. Retains a weak target during the call; the route retains all other
  /// references.
  @export(implementation) @inline(__always)
  func call<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) throws -> R? {
    let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.unsafelyUnwrapped.toOpaque())
    if let strong {
      return try strong._withUnsafeGuaranteedRef { target in
        try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
      }
    }
    guard let target = registration._withUnsafeGuaranteedRef({ $0.weakTarget }) else { return nil }
    return try typed._withUnsafeGuaranteedRef { try $0.call(target, arguments) }
  }
}
