// Interpreter+Centers.swift: services and extension points.

import Forwardcast
import ForwardcastCenters
import Synchronization

typealias ScriptPoint = ExtensionPoint<any MessageReceiver & Sendable>

extension Interpreter {
  func register(_ observer: Expression, in point: Expression) throws {
    let offset = observer.offset
    let observer = try object(observer).receiver
    let point = try self.point(point, "register")
    try world.link(point, to: observer, strongly: false)
    // Registering queries the observer. For a proxy, this queries every object behind it.
    _ = try querying(at: offset) { point.register(ifConforming: observer) }
  }

  func registerLazily(_ receiver: String, in point: Expression) throws {
    let (key, table) = try serviceKey(receiver)
    try self.point(point, "register lazily").registerLazily(key, table: table) { $0 }
  }

  func unregister(_ observer: Expression, from point: Expression) throws {
    let observer = try object(observer).receiver
    try self.point(point, "unregister").unregister(observer)
  }

  func makePoint(_ name: String, _ selectors: [String]) throws {
    try run.charge(Work.make + Work.pass * selectors.count + Work.name(name))
    let selectors = try selectors.map(world.intern)
    let point = ScriptPoint(selectors: selectors, services: world.services)
    point.observers.onError = { [weak world] failure in world?.report(failure.error) }
    world.trace(point.observers, as: "<extension \(name)>")
    world.bind(name, .object(world.label(point, "<extension \(name)>")))
  }

  private func point(_ expression: Expression, _ wanting: String) throws -> ScriptPoint {
    try evaluate(expression, "\"\(wanting)\" needs an extension point, not", showsValue: true) { value in
      value.reference?.receiver as? ScriptPoint
    }
  }

  /// `service Name`: creates the service unless it exists.
  func service(_ receiver: String, at offset: Int) throws -> ScriptValue {
    try run.step(at: offset, of: source)
    let (key, _) = try serviceKey(receiver)
    let service = try SendInProgress.$ofTask.withValue(beginSend()) { try world.services.service(key) }
    try run.check()
    return .object(service.reference)
  }

  func services() throws -> ScriptValue {
    let all = world.services.services
    try run.charge(Work.pass * all.count)
    let living = all.compactMap { $0.service as? ScriptObject }
    return try bounded(.list(living.map { .object($0.reference) }))
  }

  /// `clear services`: like `ServiceCenter.clearData()`, but throws the first error of a callback.
  func clearServices() throws {
    try run.charge(Work.pass * world.services.services.count)
    let errors = HookErrors()
    let sending = SendInProgress(run: run, depth: frame.depth + 1)
    SendInProgress.$ofTask.withValue(sending) { HookErrors.$current.withValue(errors) { world.services.clearData() } }
    try run.check()
    if let error = errors.first { throw error }
  }

  private func serviceKey(_ receiver: String) throws -> (ServiceKey<ScriptObject>, SelectorTable) {
    let table = try world.table(of: receiver)
    let key = ServiceKey(receiver) { _ in ScriptObject(table: table, receiver: receiver, name: receiver) }
    return (key, table)
  }
}

// MARK: - Callbacks of the service center, as method calls

extension ScriptObject: ServiceLifecycle {
  func serviceDidInit(in center: ServiceCenter) throws { _ = try callHook("serviceDidInit", making: center) }

  func serviceWillClearData() throws { _ = try callHook("serviceWillClearData") }

  var isPersistent: Bool {
    do {
      guard let answer = try callHook("isPersistent") else { return false }
      guard let isPersistent = answer.value as? Bool else {
        throw ScriptError(.typeMismatch, "\"isPersistent\" of \(receiverName) must answer a Bool")
      }
      return isPersistent
    } catch {
      HookErrors.current?.add(error)
      return false
    }
  }

  /// Runs the object's method of that name, if it has one, and returns the answer.
  private func callHook(_ name: String, making: ServiceCenter? = nil) throws -> ArgumentBox? {
    guard let selector = MessageSelector(known: name), objectTable?.responds(to: selector) ?? false else { return nil }
    var call = Invocation(selector, arguments: [])
    let sending = SendInProgress.current.map { SendInProgress(run: $0.run, depth: $0.depth + 1, making: making) }
    // The first method of a send costs no step of its own. `beginRow` counts a method before the
    // callback's method, so that the callback's method costs a step.
    _ = sending?.beginRow()
    try SendInProgress.$ofTask.withValue(sending) { try perform(&call) }
    return call.result
  }
}

final class HookErrors: Sendable {
  @TaskLocal static var current: HookErrors?

  private let errors = Mutex<[any Error]>([])

  func add(_ error: any Error) { errors.withLock { $0.append(error) } }
  var first: (any Error)? { errors.withLock { $0.first } }
}
