// Reference.swift: what the specification says that a program does.
// Plain Swift, one task at a time, no type of the library.

import TestSupport

/// Runs the tasks of a reference in the order in which they can go on.
final class ReferenceExecutor: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])
  private let idle = Locked<[UnsafeContinuation<Void, Never>]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func run() {
    while true {
      if let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else if let first = idle.withLock({ $0.popLast() }) {
        first.resume()
      } else {
        return
      }
    }
  }

  /// Lets the other tasks run until all of them wait or have ended.
  func suspendUntilIdle() async {
    await withUnsafeContinuation { continuation in idle.withLock { $0.append(continuation) } }
  }
}

/// The state of a program's world, and the steps that change it.
final class Reference: @unchecked Sendable {  // its executor runs one task at a time
  let executor = ReferenceExecutor()
  private var journal: Journal = []

  let program: Program
  var registrations: [[Registered]]
  /// Registrations that have ended, which reports may list until the list of targets is tidied up.
  var ended: [Registered] = []
  /// The registration that each addition made or found.
  var additions: [Int: Registered] = [:]
  var hooks: [[InstalledHook]]
  var installed: [InstalledHook] = []
  var rows: [[Word: Int]]
  /// Whether somebody other than registrations holds a target.
  var held: [Bool]
  /// How many methods of a target are running.
  var running: [Int]
  var acted: Set<Int> = []
  var contexts: [[Turn]] = Array(repeating: [], count: Program.contexts)
  /// Senders that can go on after this step.
  var ready: [UnsafeContinuation<Void, Never>] = []
  var waitingForRoom: [RoomWaiter] = []
  /// Messages whose senders have not got their result.
  var open: [Travel] = []
  var (step, sends, added) = (0, 0, 0)

  private init(_ program: Program) {
    self.program = program
    registrations = Array(repeating: [], count: program.proxies.count)
    hooks = Array(repeating: [], count: program.proxies.count)
    rows = program.targets.map { target in
      Dictionary(uniqueKeysWithValues: Word.allCases.filter(target.shape.has).map { ($0, 0) })
    }
    held = Array(repeating: true, count: program.targets.count)
    running = Array(repeating: 0, count: program.targets.count)
  }

  static func journal(of program: Program) -> Journal {
    let reference = Reference(program)
    Task(executorPreference: reference.executor) { await reference.run() }
    reference.executor.run()
    return reference.journal
  }

  private func run() async {
    for (index, step) in program.steps.enumerated() {
      self.step = index
      await take(step)
      await resumeSenders()
    }
    for round in 0..<Program.rounds {
      step = program.steps.count + round
      for context in 0..<Program.contexts {
        await run(context)
        await resumeSenders()
      }
    }
    step = program.steps.count + Program.rounds
    if !open.isEmpty { note("program", "\(open.count) senders still wait") }
  }

  private func resumeSenders() async {
    while !ready.isEmpty {
      ready.removeFirst().resume()
      await executor.suspendUntilIdle()
    }
  }

  private func take(_ step: Step) async {
    switch step {
    case .act(let action): await act(action)
    case .run(let context): await run(context)
    case .question(let word, let proxy): note("p\(proxy)", "responds to \(word): \(responds(proxy, word))")
    }
  }

  func note(_ actor: String, _ text: String) { note(Event(step: step, actor: actor, text: text)) }
  func note(_ event: Event) { journal.append(event) }

  // MARK: - Actions

  func act(_ action: Action) async {
    switch action {
    case .add(let addition): add(addition)
    case .remove(let object, let proxy): named(object, in: proxy).forEach(cancel)
    case .cancel(let number): if let registered = additions[number] { cancel(registered) }
    case .mute(let object, let proxy):
      named(object, in: proxy).forEach { $0.isMuted = true }
      roomChanged()
    case .unmute(let object, let proxy): named(object, in: proxy).forEach { $0.isMuted = false }
    case .release(let target): if running[target] == 0 { held[target] = false }
    case .hook(let setup):
      let hook = InstalledHook(setup, installed.count)
      installed.append(hook)
      hooks[setup.proxy].append(hook)
    case .cancelHook(let number):
      if installed.indices.contains(number), installed[number].setup.kind != .stream {
        installed[number].isCancelled = true
      }
    case .replaceRow(let target, let word):
      if program.targets[target].shape == .own, held[target] { rows[target][word, default: 0] += 1 }
    case .removeRow(let target, let word):
      if program.targets[target].shape == .own, held[target] { rows[target][word] = nil }
    case .send(let send): await self.send(send)
    }
  }

  /// The registrations of an object, which only a holder of the object can name.
  private func named(_ object: Object, in proxy: Int) -> [Registered] {
    if case .target(let target) = object, !held[target] { return [] }
    return registrations[proxy].filter { $0.object == object }
  }

  private func add(_ addition: Addition) {
    defer { added += 1 }
    if case .target(let target) = addition.object, !held[target] { return }
    let same = registrations[addition.proxy].first {
      $0.object == addition.object && $0.context == addition.context && isAlive($0)
    }
    guard let same, !program.proxies[addition.proxy].allowsDuplicates else {
      let registered = Registered(addition)
      additions[added] = registered
      return insert(registered)
    }
    additions[added] = same
    (same.isStrong, same.deliversPending) = (addition.isStrong, addition.deliversPending)
    if let only = addition.only { same.only?.formUnion(only) } else { same.only = nil }
    change(same, to: addition.buffer)
    guard let priority = addition.priority, priority != same.priority else { return }
    registrations[addition.proxy].removeAll { $0 === same }
    same.priority = priority
    insert(same)
  }

  private func insert(_ registered: Registered) {
    let all = registrations[registered.proxy]
    let index = all.firstIndex { $0.priority < registered.priority } ?? all.count
    registrations[registered.proxy].insert(registered, at: index)
  }

  private func change(_ registered: Registered, to buffer: Buffer) {
    guard registered.context != nil, registered.buffer != buffer else { return }
    registered.buffer = buffer
    registered.hasBuffer = true
    let waiting = registered.waiting
    switch buffer {
    case .keepNewest(let count): waiting.dropLast(count).forEach(discard)
    case .latestPerSelector:
      for (index, parcel) in waiting.enumerated()
      where waiting[(index + 1)...].contains(where: { $0.travel.word == parcel.travel.word }) {
        discard(parcel)
      }
    case .unbounded, .keepOldest, .suspendSender: break
    }
    roomChanged()
  }

  private func cancel(_ registered: Registered) {
    guard !registered.isCancelled else { return }
    registered.isCancelled = true
    registrations[registered.proxy].removeAll { $0 === registered }
    ended.append(registered)
    // No sender waits for a removed target, or for those of a removed proxy.
    for parcel in parcels(behind: registered) where parcel.node.registered !== registered || !parcel.deliversPending {
      drop(parcel, "removed")
    }
    roomChanged()
  }

  // MARK: - Questions

  func isAlive(_ registered: Registered) -> Bool {
    guard case .target(let target) = registered.object, !held[target], running[target] == 0 else { return true }
    return open.contains { $0.holds.contains(target) }
      || registrations.joined().contains { $0.object == registered.object && $0.isStrong }
      || contexts.joined().contains {
        if case .parcel(let parcel) = $0 {
          parcel.deliversPending && parcel.node.object == registered.object
        } else {
          false
        }
      }
  }

  func responds(_ proxy: Int, _ word: Word) -> Bool {
    registrations[proxy].contains { registered in
      guard !registered.isMuted, isAlive(registered), registered.only?.contains(word) ?? true else { return false }
      return switch registered.object {
      case .target(let target): rows[target][word] != nil
      case .proxy(let inner): responds(inner, word)
      }
    }
  }

  /// Whether a message is posted to a proxy on a context: what nested proxies hold is found there.
  func mayRespond(_ proxy: Int, _ word: Word) -> Bool {
    responds(proxy, word)
      || registrations[proxy].contains {
        !$0.object.isTarget && !$0.isMuted && isAlive($0) && $0.only?.contains(word) ?? true
      }
  }
}
