// LibraryRun.swift: the same program, done by the library.

import Dispatch
import Forwardcast
import Synchronization
import TestSupport

extension Message<(Int) -> Void> { static var tell: Self { .init("tell:") } }
extension Message<(Int) -> Int> { static var ask: Self { .init("ask:") } }
extension Message<(Int) -> Bool> { static var vote: Self { .init("vote:") } }

extension Word {
  var selector: MessageSelector {
    switch self {
    case .tell: "tell:"
    case .ask: "ask:"
    case .vote: "vote:"
    }
  }
}

typealias Proxy = MulticastProxy<any MessageReceiver & Sendable>

struct Thrown: Error { let text: String }

/// A target of the world: what it is told it notes, does and answers.
class Target: MessageReceiver, @unchecked Sendable {  // one thing happens at a time
  class var selectorTable: SelectorTable { table }
  private static let table = SelectorTable(for: Target.self) {
    Responds(to: .tell) { target, number in _ = try target.got(.tell, number) }
    Responds(to: .ask) { target, number in try target.got(.ask, number) }
    Responds(to: .vote) { target, number in try target.got(.vote, number) == 1 }
  }
  let index: Int
  unowned let run: LibraryRun

  required init(_ index: Int, _ run: LibraryRun) { (self.index, self.run) = (index, run) }

  func got(_ word: Word, _ number: Int, row: Int = 0) throws -> Int {
    try run.received(index, word, number, row: row)
  }
}

final class TargetWithoutVote: Target, @unchecked Sendable {
  override class var selectorTable: SelectorTable { table }
  private static let table = SelectorTable(for: TargetWithoutVote.self) {
    Responds(to: .tell) { target, number in _ = try target.got(.tell, number) }
    Responds(to: .ask) { target, number in try target.got(.ask, number) }
  }
}

final class VotingTarget: Target, @unchecked Sendable {
  override class var selectorTable: SelectorTable { table }
  private static let table = SelectorTable(for: VotingTarget.self) {
    Responds(to: .vote) { target, number in try target.got(.vote, number) == 1 }
  }
}

final class TargetOfItsOwn: Target, ObjectTableOwning, @unchecked Sendable {
  override class var selectorTable: SelectorTable { table }
  private static let table = SelectorTable(for: TargetOfItsOwn.self, rows: [])
  let own = SelectorTable(
    for: TargetOfItsOwn.self, rows: Word.allCases.map { TargetOfItsOwn.row($0, version: 0) })
  var objectTable: SelectorTable? { own }

  static func row(_ word: Word, version: Int) -> Responds<TargetOfItsOwn> {
    switch word {
    case .tell: Responds(to: .tell) { target, number in _ = try target.got(.tell, number, row: version) }
    case .ask: Responds(to: .ask) { target, number in try target.got(.ask, number, row: version) }
    case .vote: Responds(to: .vote) { target, number in try target.got(.vote, number, row: version) == 1 }
    }
  }
}

/// Tasks of the program run where and when it says.
final class HeldTasks: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
  func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

final class LibraryRun: @unchecked Sendable {  // one thing happens at a time
  private let program: Program
  private let proxies: [Proxy]
  private var targets: [Target?] = []
  private let contexts = (0..<Program.contexts).map { DispatchQueue(label: "q\($0)") }
  private let tasks = HeldTasks()
  private var registrations: [Registration?] = []
  private var hooks: [HookRegistration?] = []
  private var streams: [Task<Void, Never>] = []
  private var running: [Int]
  private var acted: Set<Int> = []
  private var hasRun: Set<Int> = []
  private var rows: [[Word: Int]]
  private let events = Locked<Journal>([])
  private let step = Locked(0)
  private var sends = 0
  private let openSends = Locked(0)

  static func journal(of program: Program) -> Journal { LibraryRun(program).journal() }

  private init(_ program: Program) {
    self.program = program
    proxies = program.proxies.map { setup in
      Proxy(
        options: MulticastOptions(
          duplicates: setup.allowsDuplicates ? .allowed : .refused,
          noResponder: setup.silenceIsThrown ? .throw : .ignore,
          errors: setup.stopsAtFirst ? .stopAtFirst : .collected))
    }
    running = Array(repeating: 0, count: program.targets.count)
    rows = program.targets.map { _ in [:] }
    targets = program.targets.enumerated().map { index, setup in
      switch setup.shape {
      case .all: Target(index, self)
      case .noVote: TargetWithoutVote(index, self)
      case .voteOnly: VotingTarget(index, self)
      case .own: TargetOfItsOwn(index, self)
      }
    }
    for (index, setup) in program.proxies.enumerated() where setup.hasErrorHandler {
      proxies[index].onError = { [unowned self] in
        note("onError p\(index)", "\(name(of: $0.selector)): \(text(of: $0.error))")
      }
    }
    contexts.forEach { $0.suspend() }
  }

  private func journal() -> Journal {
    for (index, step) in program.steps.enumerated() {
      self.step.withLock { $0 = index }
      take(step)
      letGo()
    }
    for round in 0..<Program.rounds {
      step.withLock { $0 = program.steps.count + round }
      for context in contexts.indices {
        run(context)
        letGo()
      }
    }
    step.withLock { $0 = program.steps.count + Program.rounds }
    let open = openSends.withLock { $0 }
    if open > 0 { note("program", "\(open) senders still wait") }
    contexts.forEach { $0.resume() }
    streams.forEach { $0.cancel() }
    tasks.run()
    return events.withLock { $0 }
  }

  private func letGo() { tasks.run() }

  private func take(_ step: Step) {
    switch step {
    case .act(let action): act(action)
    case .run(let context): run(context)
    case .question(let word, let proxy):
      note("p\(proxy)", "responds to \(word): \(proxies[proxy].responds(to: word.selector))")
    }
  }

  /// Lets a queue go until nothing has come of it any more.
  private func run(_ context: Int) {
    contexts[context].resume()
    var count = -1
    while count != events.withLock({ $0.count }) {
      count = events.withLock { $0.count }
      for _ in 0..<6 { contexts[context].sync {} }
    }
    contexts[context].suspend()
  }

  private func note(_ actor: String, _ text: String, skipped: [String]? = nil) {
    let event = Event(step: step.withLock { $0 }, actor: actor, text: text, skipped: skipped)
    events.withLock { $0.append(event) }
  }

  // MARK: - Targets

  func received(_ index: Int, _ word: Word, _ number: Int, row: Int) throws -> Int {
    note("t\(index)", "\(word) \(number)" + (row > 0 ? " in row \(row)" : ""))
    let setup = program.targets[index]
    if acted.insert(index).inserted {
      running[index] += 1
      setup.actions.forEach(act)
      running[index] -= 1
    }
    if setup.throwsError { throw Thrown(text: "t\(index) throws") }
    switch word {
    case .tell: return 0
    case .ask: return number * 10 + index + 1 + row * 100
    case .vote: return setup.vote ? 1 : 0
    }
  }

  private func name(of selector: MessageSelector) -> String { String(selector.name.dropLast()) }

  private func text(of error: any Error) -> String {
    (error as? Thrown)?.text ?? (error as? MessageError)?.code.description ?? "\(error)"
  }

  private func object(_ object: Object) -> (any MessageReceiver & Sendable)? {
    switch object {
    case .target(let index): targets[index]
    case .proxy(let index): proxies[index]
    }
  }

  private func name(of object: AnyObject?) -> String {
    guard let object else { return "nil" }
    if let target = object as? Target { return "t\(target.index)" }
    return proxies.firstIndex { $0 === object }.map { "p\($0)" } ?? "\(type(of: object))"
  }

  // MARK: - Actions

  private func act(_ action: Action) {
    switch action {
    case .add(let addition): registrations.append(add(addition))
    case .remove(let what, let proxy): if let object = object(what) { proxies[proxy].remove(object) }
    case .cancel(let number): if registrations.indices.contains(number) { registrations[number]?.cancel() }
    case .mute(let what, let proxy): if let object = object(what) { proxies[proxy].mute(object) }
    case .unmute(let what, let proxy): if let object = object(what) { proxies[proxy].unmute(object) }
    case .release(let target): if running[target] == 0 { targets[target] = nil }
    case .hook(let setup): install(setup)
    case .cancelHook(let number): if hooks.indices.contains(number) { hooks[number]?.cancel() }
    case .replaceRow(let index, let word):
      guard let target = targets[index] as? TargetOfItsOwn else { return }
      rows[index][word, default: 0] += 1
      do {
        try target.own.replace(TargetOfItsOwn.row(word, version: rows[index][word, default: 0]))
      } catch { note("table", "\(error)") }
    case .removeRow(let index, let word):
      guard let target = targets[index] as? TargetOfItsOwn else { return }
      target.own.remove(word.selector)
      rows[index][word] = nil
    case .send(let send): self.send(send)
    }
  }

  private func add(_ addition: Addition) -> Registration? {
    guard let object = object(addition.object) else { return nil }
    let proxy = proxies[addition.proxy]
    let only = addition.only?.map(\.selector)
    let ownership: Ownership = addition.isStrong ? .strong : .weak
    guard let context = addition.context else {
      guard let priority = addition.priority else { return proxy.add(object, ownership: ownership, only: only) }
      return proxy.add(object, priority: priority, ownership: ownership, only: only)
    }
    let buffer: DeliveryBuffer =
      switch addition.buffer {
      case .unbounded: .unbounded
      case .keepNewest(let count): .keepNewest(count)
      case .keepOldest(let count): .keepOldest(count)
      case .latestPerSelector: .latestPerSelector
      case .suspendSender(let count): .suspendSender(count)
      }
    let (delivery, pending) = (
      Delivery.queue(contexts[context]), addition.deliversPending ? PendingDeliveries.deliverPending : .dropPending
    )
    guard let priority = addition.priority else {
      return proxy.add(
        object, delivery: delivery, ownership: ownership, only: only, buffer: buffer, whenRemoved: pending)
    }
    return proxy.add(
      object, delivery: delivery, priority: priority, ownership: ownership, only: only, buffer: buffer,
      whenRemoved: pending)
  }

  // MARK: - Hooks

  private func begin(_ number: Int, _ setup: HookSetup) {
    guard hasRun.insert(number).inserted else { return }
    setup.actions.forEach(act)
  }

  private func install(_ setup: HookSetup) {
    let number = hooks.count
    hooks.append(nil)
    do {
      switch setup.word {
      case .tell: hooks[number] = try install(setup, number, .tell, .tell, { _ in nil }, { _ in [] })
      case .ask: hooks[number] = try install(setup, number, .ask, .ask, { $0 }, { $0 })
      case .vote: hooks[number] = try install(setup, number, .vote, .vote, { $0 ? 1 : 0 }, { $0.map { $0 == 1 } })
      case nil: hooks[number] = try installBoxed(setup, number)
      }
    } catch {
      note("h\(number)", "is not installed: \(error)")
    }
  }

  private func install<R: Sendable>(
    _ setup: HookSetup, _ number: Int, _ word: Word, _ message: Message<(Int) -> R>,
    _ value: @escaping @Sendable (R) -> Int?, _ own: @escaping @Sendable ([Int]) -> [R]
  ) throws -> HookRegistration? {
    let proxy = proxies[setup.proxy]
    let name = "h\(number)"
    switch setup.kind {
    case .trace: return proxy.trace { _ in }
    case .stream:
      let messages = proxy.messages(for: message)
      read(number) { [self] in
        for await argument in messages { note("stream \(name)", "takes \(word) \(argument)") }
      }
      return nil
    case .before, .refusing:
      return try proxy.before(message) { [unowned self] argument in
        note(name, "before \(word) \(argument)")
        begin(number, setup)
        if setup.kind == .refusing { throw Thrown(text: "\(name) throws") }
      }
    case .after, .failingAfter:
      return try proxy.after(message) { [unowned self] answers, argument in
        note(name, "after \(word) \(argument): \(answers.compactMap(value))")
        begin(number, setup)
        if setup.kind == .failingAfter { throw Thrown(text: "\(name) throws") }
      }
    case .around(let around):
      let enter = { @Sendable [unowned self] (argument: Int) in
        note(name, "around \(word) \(argument)")
        begin(number, setup)
      }
      let leave = { @Sendable [unowned self] (argument: Int, answers: [R]) -> [R] in
        note(name, "leaves \(word) \(argument): \(answers.compactMap(value))")
        guard around == .change, word == .ask else { return answers }
        return own(answers.compactMap(value).map { $0 + 1000 })
      }
      let plain: @Sendable (MessageCall<R, Int>) throws -> [R] = { call in
        enter(call.arguments)
        switch around {
        case .pass, .change: return leave(call.arguments, try call.proceed())
        case .swallow: return leave(call.arguments, (try? call.proceed()) ?? [])
        case .argument: return leave(call.arguments, try call.proceed(with: call.arguments + 100))
        case .twice:
          try call.proceed()
          return leave(call.arguments, try call.proceed())
        case .skip: return []
        case .own: return word == .ask ? own([7]) : []
        }
      }
      let waiting: nonisolated(nonsending) @Sendable (WaitingMessageCall<R, Int>) async throws -> [R] = { call in
        enter(call.arguments)
        switch around {
        case .pass, .change: return leave(call.arguments, try await call.proceed())
        case .swallow: return leave(call.arguments, (try? await call.proceed()) ?? [])
        case .argument: return leave(call.arguments, try await call.proceed(with: call.arguments + 100))
        case .twice:
          try await call.proceed()
          return leave(call.arguments, try await call.proceed())
        case .skip: return []
        case .own: return word == .ask ? own([7]) : []
        }
      }
      if setup.form == .plain { return try proxy.around(message, plain) }
      return try proxy.around(message, setup.form == .waiting ? nil : plain, waiting: waiting)
    }
  }

  private func installBoxed(_ setup: HookSetup, _ number: Int) throws -> HookRegistration? {
    let proxy = proxies[setup.proxy]
    let name = "h\(number)"
    let says = { @Sendable [unowned self] (invocation: Invocation) -> String in
      "\(self.name(of: invocation.selector)) \((try? invocation.argument(0, as: Int.self)) ?? -1)"
    }
    let values = { @Sendable (answers: [ArgumentBox]) -> [Int] in
      answers.compactMap { box in
        (try? box.unbox(as: Bool.self)).map { $0 ? 1 : 0 } ?? (try? box.unbox(as: Int.self))
      }
    }
    switch setup.kind {
    case .trace: return proxy.trace { _ in }
    case .stream:
      let messages = proxy.messages(for: nil as MessageSelector?)
      read(number) { [self] in
        for await call in messages { note("stream \(name)", "takes \(says(call))") }
      }
      return nil
    case .before, .refusing:
      return try proxy.before { [unowned self] call in
        note(name, "before \(says(call))")
        begin(number, setup)
        if setup.kind == .refusing { throw Thrown(text: "\(name) throws") }
      }
    case .after, .failingAfter:
      return try proxy.after { [unowned self] answers, call in
        note(name, "after \(says(call)): \(values(answers))")
        begin(number, setup)
        if setup.kind == .failingAfter { throw Thrown(text: "\(name) throws") }
      }
    case .around(let around):
      let enter = { @Sendable [unowned self] (call: Invocation) in
        note(name, "around \(says(call))")
        begin(number, setup)
      }
      let leave = { @Sendable [unowned self] (call: Invocation, answers: [ArgumentBox]) -> [ArgumentBox] in
        note(name, "leaves \(says(call)): \(values(answers))")
        guard around == .change, call.selector == Word.ask.selector else { return answers }
        return values(answers).map { ArgumentBox($0 + 1000) }
      }
      let more = { @Sendable (call: Invocation) in [ArgumentBox(((try? call.argument(0, as: Int.self)) ?? 0) + 100)] }
      let given = { @Sendable (call: Invocation) in call.selector == Word.ask.selector ? [ArgumentBox(7)] : [] }
      let plain: @Sendable (InvocationCall) throws -> [ArgumentBox] = { call in
        enter(call.invocation)
        switch around {
        case .pass, .change: return leave(call.invocation, try call.proceed())
        case .swallow: return leave(call.invocation, (try? call.proceed()) ?? [])
        case .argument: return leave(call.invocation, try call.proceed(with: more(call.invocation)))
        case .twice:
          try call.proceed()
          return leave(call.invocation, try call.proceed())
        case .skip: return []
        case .own: return given(call.invocation)
        }
      }
      let waiting: nonisolated(nonsending) @Sendable (WaitingInvocationCall) async throws -> [ArgumentBox] = { call in
        enter(call.invocation)
        switch around {
        case .pass, .change: return leave(call.invocation, try await call.proceed())
        case .swallow: return leave(call.invocation, (try? await call.proceed()) ?? [])
        case .argument: return leave(call.invocation, try await call.proceed(with: more(call.invocation)))
        case .twice:
          try await call.proceed()
          return leave(call.invocation, try await call.proceed())
        case .skip: return []
        case .own: return given(call.invocation)
        }
      }
      if setup.form == .plain { return try proxy.around(nil as MessageSelector?, plain) }
      return try proxy.around(nil as MessageSelector?, setup.form == .waiting ? nil : plain, waiting: waiting)
    }
  }

  private func read(_ number: Int, _ loop: sending @escaping () async -> Void) {
    streams.append(Task(executorPreference: tasks) { await loop() })
    tasks.run()
  }

  // MARK: - Sending

  private func send(_ send: Send) {
    let name = "send \(sends)"
    sends += 1
    let proxy = proxies[send.proxy]
    let call = Invocation(send.word.selector, arguments: [ArgumentBox(send.argument)])
    do {
      switch send.verb {
      case .broadcast:
        switch send.word {
        case .tell: note(name, text(of: proxy.broadcast(.tell, send.argument)))
        case .ask: note(name, text(of: proxy.broadcast(.ask, send.argument)))
        case .vote: note(name, text(of: proxy.broadcast(.vote, send.argument)))
        }
      case .broadcastBoxed: note(name, text(of: proxy.broadcast(call)))
      case .forward:
        var call = call
        note(name, try proxy.forward(&call))
      case .collect(let policy): note(name, "gives " + (try collect(proxy, policy, send.argument)))
      case .collectBoxed(let policy): note(name, "gives " + (try collectBoxed(proxy, policy, call)))
      case .collectAndWait, .forwardAndWait, .broadcastWhenReady: wait(send, name, proxy)
      }
    } catch {
      note(name, "throws \(text(of: error))")
    }
  }

  private func wait(_ send: Send, _ name: String, _ proxy: Proxy) {
    openSends.withLock { $0 += 1 }
    Task(executorPreference: tasks) { [self] in
      do {
        switch send.verb {
        case .forwardAndWait:
          let call = Invocation(send.word.selector, arguments: [ArgumentBox(send.argument)])
          note(name, try await proxy.forwardAndWait(call))
        case .broadcastWhenReady:
          switch send.word {
          case .tell: note(name, text(of: try await proxy.broadcastWhenReady(.tell, send.argument)))
          case .ask: note(name, text(of: try await proxy.broadcastWhenReady(.ask, send.argument)))
          case .vote: note(name, text(of: try await proxy.broadcastWhenReady(.vote, send.argument)))
          }
        case .collectAndWait(let policy):
          note(name, "gives " + (try await collectAndWait(proxy, policy, send.argument)))
        default: break
        }
      } catch {
        note(name, "throws \(text(of: error))")
      }
      openSends.withLock { $0 -= 1 }
    }
    tasks.run()
  }

  private func text(of summary: BroadcastSummary) -> String {
    "delivered \(summary.delivered), queued \(summary.queued), failed \(summary.failed), dropped \(summary.dropped), nobody \(summary.nobodyResponded)"
  }

  private func note(_ name: String, _ report: DeliveryReport) {
    let answers = report.answers.map { answer in
      let value = answer.result.flatMap { box in
        (try? box.unbox(as: Bool.self)).map { $0 ? 1 : 0 } ?? (try? box.unbox(as: Int.self))
      }
      return "\(self.name(of: answer.target)) \(value.map { "\($0)" } ?? "nil")\(answer.wasQueued ? " queued" : "")"
    }
    let queued = report.queued.map { self.name(of: $0) }
    let failures = report.failures.map { "\(self.name(of: $0.target)): \(text(of: $0.error))" }
    note(
      name,
      "answers \(answers), queued \(queued), failures \(failures), dropped \(report.dropped), nobody \(report.nobodyResponded)",
      skipped: report.skipped.map { "\(self.name(of: $0.target)) \($0.reason)" })
  }

  private func text(of answer: Int?) -> String { answer.map { "\($0)" } ?? "nil" }

  private func collect(_ proxy: Proxy, _ policy: Policy, _ argument: Int) throws -> String {
    switch policy {
    case .last: text(of: try proxy.collect(.ask, argument, returning: .last))
    case .first: text(of: try proxy.collect(.ask, argument, returning: .first))
    case .all: "\(try proxy.collect(.ask, argument, returning: .all))"
    case .sum: "\(try proxy.collect(.ask, argument, returning: .sum))"
    case .max: text(of: try proxy.collect(.ask, argument, returning: .max))
    case .firstSuccess: text(of: try proxy.collect(.ask, argument, returning: .firstSuccess))
    case .any: "\(try proxy.collect(.vote, argument, returning: .any))"
    case .every: "\(try proxy.collect(.vote, argument, returning: .every))"
    }
  }

  private func collectAndWait(_ proxy: Proxy, _ policy: Policy, _ argument: Int) async throws -> String {
    switch policy {
    case .last: text(of: try await proxy.collectAndWait(.ask, argument, returning: .last))
    case .first: text(of: try await proxy.collectAndWait(.ask, argument, returning: .first))
    case .all: "\(try await proxy.collectAndWait(.ask, argument, returning: .all))"
    case .sum: "\(try await proxy.collectAndWait(.ask, argument, returning: .sum))"
    case .max: text(of: try await proxy.collectAndWait(.ask, argument, returning: .max))
    case .firstSuccess: text(of: try await proxy.collectAndWait(.ask, argument, returning: .firstSuccess))
    case .any: "\(try await proxy.collectAndWait(.vote, argument, returning: .any))"
    case .every: "\(try await proxy.collectAndWait(.vote, argument, returning: .every))"
    }
  }

  private func collectBoxed(_ proxy: Proxy, _ policy: Policy, _ call: Invocation) throws -> String {
    switch policy {
    case .first: text(of: try proxy.collect(call, returning: .first)?.unbox(as: Int.self))
    case .firstSuccess: text(of: try proxy.collect(call, returning: .firstSuccess)?.unbox(as: Int.self))
    case .all: "\(try proxy.collect(call, returning: .all).map { try $0.unbox(as: Int.self) })"
    default: text(of: try proxy.collect(call, returning: .last)?.unbox(as: Int.self))
    }
  }
}
