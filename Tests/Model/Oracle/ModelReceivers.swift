// ModelReceivers.swift: the targets that stand for those of the model.

import Dispatch
import Forwardcast
import Synchronization
import TestSupport

extension Message<(Int) -> Int> { static var model: Self { .init("model:") } }
extension Message<(Int) -> Bool> { static var modelAgrees: Self { .init("modelAgrees:") } }

/// What every target of a model's case may be used as.
typealias ModelMember = any MessageReceiver & Sendable
typealias ModelMulticast = MulticastProxy<ModelMember>

/// Who ran what, and who was told, from any thread.
final class ModelJournal: Sendable {
  struct Lines: Sendable {
    var calls: [String: [String]] = [:]
    var told: [String] = []
    var silences: [String] = []
  }
  private let lines = Locked(Lines())
  private let sending = Atomic<Bool>(false)

  /// Whether the sender's turn lasts: a sender may be on a queue of the model itself.
  var isSending: Bool {
    get { sending.load(ordering: .acquiring) }
    set { sending.store(newValue, ordering: .releasing) }
  }

  func note(call: String, in context: String) { lines.withLock { $0.calls[context, default: []].append(call) } }
  func note(told: String) { lines.withLock { $0.told.append(told) } }
  func note(silence: String) { lines.withLock { $0.silences.append(silence) } }
  var all: Lines { lines.withLock { $0 } }
}

/// Two queues that know their names.
final class ModelQueues: Sendable {
  private static let key = DispatchSpecificKey<ModelQueue>()
  private let first = DispatchQueue(label: "model 1")
  private let second = DispatchQueue(label: "model 2")

  init() {
    first.setSpecific(key: Self.key, value: .queue1)
    second.setSpecific(key: Self.key, value: .queue2)
  }

  subscript(_ name: ModelQueue) -> DispatchQueue { name == .queue1 ? first : second }

  /// The queue that the running code is on.
  static var current: ModelQueue? { DispatchQueue.getSpecific(key: key) }
}

/// A target of the model: notes its calls, acts and answers.
class ModelReceiver: MessageReceiver, @unchecked Sendable {  // immutable
  let target: ModelTarget
  let owner: String
  let journal: ModelJournal
  let act: @Sendable () -> Void

  required init(
    _ target: ModelTarget, owner: String, _ journal: ModelJournal, act: @escaping @Sendable () -> Void
  ) {
    (self.target, self.owner, self.journal, self.act) = (target, owner, journal, act)
  }

  class var selectorTable: SelectorTable { silentTable }

  /// Where the running code is, in the words of the model.
  private var context: String {
    guard let queue = ModelQueues.current, queue != .queue1 || !journal.isSending else {
      return target.suspends && target.place != .direct ? "task of \(target.name)" : "sender"
    }
    return "\(queue.rawValue) of \(owner)"
  }

  /// Runs the method that every row has.
  func take(_ number: Int) throws -> Int {
    journal.note(call: "\(target.name) \(number)", in: context)
    if number == ModelSimulation.first { act() }
    if target.throwsItself { throw Thrown(text: "refused by \(target.name)") }
    return target.answer
  }

  static func type(for kind: ModelTarget.Kind) -> ModelReceiver.Type {
    switch kind {
    case .typed, .throwing, .proxy: TypedReceiver.self
    case .converting: ConvertingReceiver.self
    case .text: TextReceiver.self
    case .unfit: UnfitReceiver.self
    case .silent: ModelReceiver.self
    case .suspending, .suspendingAndThrowing: SuspendingReceiver.self
    }
  }
}

/// A proxy for one of the model's targets.
final class ModelStandIn: ForwardingProxy, @unchecked Sendable {}  // immutable, and so is its target

private let silentTable = SelectorTable(for: ModelReceiver.self) {
  Responds(to: "somethingElse") { (_: ModelReceiver) in 0 }
}

private final class TypedReceiver: ModelReceiver, @unchecked Sendable {  // immutable
  override class var selectorTable: SelectorTable { typedTable }
}

private let typedTable = SelectorTable(for: TypedReceiver.self) {
  Responds(to: .model) { target, number in try target.take(number) }
  Responds(to: .modelAgrees) { target, number in try target.take(number) > 0 }
}

private final class ConvertingReceiver: ModelReceiver, @unchecked Sendable {  // immutable
  override class var selectorTable: SelectorTable { convertingTable }
}

private let convertingTable = SelectorTable(for: ConvertingReceiver.self) {
  Responds(to: "model:") { (target: ConvertingReceiver, number: Int32) in Int8(try target.take(Int(number))) }
  Responds(to: "modelAgrees:") { (target: ConvertingReceiver, number: Int32) in try target.take(Int(number)) > 0 }
}

private final class TextReceiver: ModelReceiver, @unchecked Sendable {  // immutable
  override class var selectorTable: SelectorTable { textTable }
}

private let textTable = SelectorTable(for: TextReceiver.self) {
  Responds(to: "model:") { (target: TextReceiver, number: Int) in "text \(try target.take(number))" }
  Responds(to: "modelAgrees:") { (target: TextReceiver, number: Int) in "text \(try target.take(number))" }
}

private final class UnfitReceiver: ModelReceiver, @unchecked Sendable {  // immutable
  override class var selectorTable: SelectorTable { unfitTable }
}

private let unfitTable = SelectorTable(for: UnfitReceiver.self) {
  Responds(to: "model:") { (target: UnfitReceiver, text: String) in try target.take(text.count) }
  Responds(to: "modelAgrees:") { (target: UnfitReceiver, text: String) in try target.take(text.count) > 0 }
}

private final class SuspendingReceiver: ModelReceiver, @unchecked Sendable {  // immutable
  override class var selectorTable: SelectorTable { suspendingTable }
}

private let suspendingTable = SelectorTable(for: SuspendingReceiver.self) {
  Responds(
    to: .model,
    async: { target, number in
      await Task.yield()
      return try target.take(number)
    })
  Responds(
    to: .modelAgrees,
    async: { target, number in
      await Task.yield()
      return try target.take(number) > 0
    })
}
