// Proxies.swift: operations on proxies whose targets are on contexts that run step by step.

import Forwardcast

/// Runs an input as operations on one proxy, or on two of which one may be a target of the other.
func proxySchedule(_ program: consuming Program) {
  var program = program
  do {
    let stage = ProxyStage(&program)
    while !program.isAtEnd, stage.operations < 200 {
      stage.perform(Operation(&program))
    }
    stage.end()
  }
  require(Member.alive == 0, "\(Member.alive) targets are left")
}

/// One operation. A target may also run one when it receives its next message.
struct Operation {
  let code: Int
  let first: Int
  let second: Int

  init(_ program: inout Program) { (code, first, second) = (program.byte(), program.byte(), program.byte()) }

  init(code: Int, first: Int, second: Int) { (self.code, self.first, self.second) = (code, first, second) }
}

private let selectors: [MessageSelector] = ["note:", "say:", "fail:", "value:"]

extension Message<(Int) -> Void> {
  fileprivate static var note: Self { .init("note:") }
  fileprivate static var say: Self { .init("say:") }
  fileprivate static var fail: Self { .init("fail:") }
}
extension Message<(Int) -> Int> { fileprivate static var value: Self { .init("value:") } }

private struct Refusal: Error {}

/// A target that checks the messages it receives.
private final class Member: MessageReceiver, @unchecked Sendable {  // the fuzzer has one thread
  nonisolated(unsafe) static var alive = 0

  let record: Record
  unowned let stage: ProxyStage

  init(_ record: Record, _ stage: ProxyStage) {
    (self.record, self.stage) = (record, stage)
    Member.alive += 1
  }

  deinit { Member.alive -= 1 }

  static let selectorTable = SelectorTable(for: Member.self) {
    Responds(to: .note) { (member: Member, number: Int) in member.stage.deliver(0, number, to: member.record) }
    Responds(to: .say) { (member: Member, number: Int) in member.stage.deliver(1, number, to: member.record) }
    Responds(to: .fail) { (member: Member, number: Int) throws in
      member.stage.deliver(2, number, to: member.record)
      member.stage.thrown += 1
      throw Refusal()
    }
    Responds(to: .value) { (member: Member, number: Int) -> Int in
      member.stage.deliver(3, number, to: member.record)
      return number
    }
  }
}

/// The expected state of one registration.
private final class Place {
  let registration: Registration
  /// The index of its proxy, or -1 once the proxy is released.
  var proxy: Int
  let scope: Set<Int>?
  let context: Int
  let keepsPending: Bool
  /// The maximum number of waiting messages, or `nil` if the buffer is or was unbounded.
  var bound: Int?
  var isMuted = false
  var isRemoved = false

  init(_ registration: Registration, proxy: Int, scope: Set<Int>?, context: Int, keepsPending: Bool, bound: Int?) {
    (self.registration, self.proxy, self.scope, self.context) = (registration, proxy, scope, context)
    (self.keepsPending, self.bound) = (keepsPending, bound)
  }

  func isFor(_ name: Int) -> Bool { !isRemoved && !isMuted && scope?.contains(name) ?? true }
}

/// The expected state of one target. It outlives the target.
private final class Record {
  var held: Member?
  weak var member: Member?
  var places: [Place] = []
  var actions: [Operation] = []
  /// The number of the last message that was sent before the target was added.
  let joined: Int
  var last = 0
  var got: [Int: Int] = [:]
  /// The minimum and maximum number of messages that must have arrived or been dropped.
  var (least, most) = (0, 0)
  /// Counts changes: a message sent during a change may arrive or not.
  var changes = 0
  /// True if the target has or had several registrations, so that it is unknown which one counts.
  var isAmbiguous = false

  init(joined: Int) { self.joined = joined }

  var isAlive: Bool { member != nil }
  var came: Int { got.values.reduce(0, +) + places.reduce(0) { $0 + $1.registration.dropped } }
}

private final class ProxyStage: @unchecked Sendable {  // the fuzzer has one thread
  private let contexts: [StepContext]
  private let executor = StepExecutor()
  private var proxies: [MulticastProxy<any MessageReceiver & Sendable>?]
  private var link: Registration?
  private var linkContexts: Set<Int> = []
  private var records: [Record] = []
  private let stopsAtFirst: Bool
  private(set) var operations = 0
  private var number = 0
  private var sends = 0
  private var lateSends = 0
  private var lateNumbers: Set<Int> = []
  private var runningTasks = 0
  private var tasks: [Task<Void, Never>] = []
  var thrown = 0
  private var reported = 0
  private var foreign: [String] = []
  private var scoped: [ScopedRegistration] = []

  private var isNested: Bool { proxies.count > 1 }

  init(_ program: inout Program) {
    let turn = [1, 2, 512][program.below(3)]
    contexts = [
      StepContext("left", turn: turn), StepContext("right", turn: turn),
      StepContext("many", turn: turn, isConcurrent: true),
    ]
    stopsAtFirst = program.below(8) == 0
    proxies = []
    let count = program.below(4) == 0 ? 2 : 1
    for _ in 0..<count { proxies.append(newProxy()) }
    show("turns of \(turn), \(stopsAtFirst ? "stops at the first error, " : "")\(count) proxies")
  }

  private func newProxy() -> MulticastProxy<any MessageReceiver & Sendable> {
    let options = MulticastOptions(errors: stopsAtFirst ? .stopAtFirst : .collected)
    let proxy = MulticastProxy<any MessageReceiver & Sendable>(options: options)
    proxy.onError = { [unowned self] failure in
      reported += 1
      if !(failure.error is Refusal) { foreign.append("\(failure)") }
    }
    return proxy
  }

  func perform(_ operation: Operation) {
    operations += 1
    show("\(operations): \(operation.code % 24) \(operation.first) \(operation.second)")
    let (first, second) = (operation.first, operation.second)
    switch operation.code % 24 {
    case 0, 1: add(first, second)
    case 2: addAgain(first, second)
    case 3: remove(first, second)
    case 4: place(first).map { setMuted($0.1, of: $0.0, true) }
    case 5, 6: place(first).map { setMuted($0.1, of: $0.0, false) }
    case 7: kill(record(first))
    case 8...12: send(first, second)
    case 13, 14, 15: contexts[first % 3].step(second)
    case 16: for _ in 0..<8 { contexts[first % 3].step(second) }
    case 17: executor.step()
    case 18: sendLate(first, second)
    case 19: if !tasks.isEmpty { tasks[first % tasks.count].cancel() }
    case 20: changeBuffer(first, second)
    case 21: record(first)?.actions.append(Operation(code: second, first: second / 7, second: first))
    case 22: ask(first)
    default: unusual(first, second)
    }
    if sends == 0 { check() }
  }

  // MARK: Targets

  private func record(_ choice: Int) -> Record? { records.isEmpty ? nil : records[choice % records.count] }

  private func place(_ choice: Int) -> (Record, Place)? {
    let all = records.flatMap { record in record.places.map { (record, $0) } }
    return all.isEmpty ? nil : all[choice % all.count]
  }

  private func proxy(_ place: Place) -> MulticastProxy<any MessageReceiver & Sendable>? {
    place.proxy < 0 ? nil : proxies[place.proxy]
  }

  private func buffer(_ choice: Int) -> (DeliveryBuffer, bound: Int?) {
    let bound = 1 + choice / 8 % 3
    return switch choice % 8 {
    case 0, 1, 2: (.unbounded, nil)
    case 3: (.keepNewest(bound), bound)
    case 4: (.keepOldest(bound), bound)
    case 5: (.latestPerSelector, selectors.count)
    default: (.suspendSender(bound), bound)
    }
  }

  private func add(_ first: Int, _ second: Int) {
    guard records.count < 10 else { return }
    let record = Record(joined: number)
    let member = Member(record, self)
    (record.held, record.member) = (member, member)
    records.append(record)
    register(record, member, first, second)
  }

  /// Adds a target again, which returns the same registration or a new one.
  private func addAgain(_ first: Int, _ second: Int) {
    guard let record = record(first), let member = record.member else { return }
    register(record, member, second, first)
  }

  private func register(_ record: Record, _ member: Member, _ first: Int, _ second: Int) {
    let index = first / 128 % proxies.count
    guard let proxy = proxies[index] else { return }
    let context = first % 4
    let scope: Set<Int>? = second % 5 == 0 ? [0, 3] : nil
    let (buffer, bound) = buffer(second / 2)
    let pending: PendingDeliveries = first / 4 % 2 == 0 ? .dropPending : .deliverPending
    let registration = proxy.add(
      member, delivery: context == 3 ? .direct : .on(contexts[context]), priority: first / 8 % 3,
      ownership: first / 32 % 4 == 0 ? .strong : .weak, only: scope?.map { selectors[$0] }, buffer: buffer,
      whenRemoved: pending)
    record.changes += 1
    show("  registers \(registration) with \(buffer), \(pending)")
    if let known = record.places.first(where: { $0.registration === registration }) {
      require(!known.isRemoved, "a registration that was canceled is given out again")
      require(known.scope == scope && known.context == context, "a registration of another kind is given out again")
      // Messages beyond a smaller new bound may stay; a mailbox does not count them.
      known.bound = known.bound.flatMap { old in bound.map { max(old, $0) } }
    } else {
      require(!registration.isCancelled && !registration.isMuted, "a new registration is not live")
      if !record.places.isEmpty { record.isAmbiguous = true }
      record.places.append(
        Place(
          registration, proxy: index, scope: scope, context: context, keepsPending: pending == .deliverPending,
          bound: bound))
    }
  }

  private func changeBuffer(_ first: Int, _ second: Int) {
    guard let (record, place) = place(first), let member = record.member, !place.isRemoved,
      let proxy = proxy(place)
    else { return }
    let (buffer, bound) = buffer(second)
    let registration = proxy.add(
      member, delivery: place.context == 3 ? .direct : .on(contexts[place.context]),
      only: place.scope?.map { selectors[$0] }, buffer: buffer)
    require(registration === place.registration, "a target that is there is registered twice")
    place.bound = place.bound.flatMap { old in bound.map { max(old, $0) } }
    record.changes += 1
  }

  private func remove(_ first: Int, _ second: Int) {
    guard let (record, place) = place(first) else { return }
    record.changes += 1
    switch second % 4 {
    case 0:
      place.registration.cancel()
      place.isRemoved = true
    case 1:
      guard let proxy = proxy(place) else { return }
      require(proxy.remove(place.registration), "a proxy does not know its registration")
      place.isRemoved = true
    case 2:
      scoped = [place.registration.selectorsd()]
      scoped = []
      place.isRemoved = true
    default:
      guard let member = record.member, let proxy = proxy(place) else { return }
      let there = record.places.count { $0.proxy == place.proxy && !$0.isRemoved }
      require(proxy.remove(member) == there, "other registrations were removed than there are")
      for other in record.places where other.proxy == place.proxy { other.isRemoved = true }
    }
    require(place.registration.isCancelled == place.isRemoved, "a removed registration is live")
  }

  private func setMuted(_ place: Place, of record: Record, _ isMuted: Bool) {
    if isMuted { place.registration.mute() } else { place.registration.unmute() }
    place.isMuted = isMuted
    record.changes += 1
  }

  private func kill(_ record: Record?) {
    record?.held = nil
    record?.changes += 1
  }

  // MARK: Messages

  /// A message arrives at a target.
  func deliver(_ name: Int, _ number: Int, to record: Record) {
    show("  \(selectors[name]) \(number) arrives at \(records.firstIndex { $0 === record } ?? -1)")
    let open = record.places.filter { place in
      !place.isMuted && (!place.isRemoved || place.keepsPending) && place.scope?.contains(name) ?? true
    }
    require(!open.isEmpty, "a message starts after its target was muted or removed")
    record.got[number, default: 0] += 1
    // Each delivery of a target receives the message, and so does each nested proxy.
    let ways = Set(record.places.map { $0.context + 4 * $0.proxy }).count * max(linkContexts.count, 1)
    require(record.got[number, default: 0] <= ways, "a message arrives twice")
    let isDirect = open.contains { $0.context == 3 }
    if !lateNumbers.contains(number) {
      // A queued proxy looks up its targets when it receives the message.
      require(isNested || number > record.joined, "a message arrives that was sent before its target was there")
      // A message sent by a direct target reaches other direct targets first.
      let isOrdered = !isNested && !isDirect && !record.isAmbiguous && !(stopsAtFirst && hasSentWithin)
      if isOrdered {
        require(number > record.last, "a message arrives out of order")
        record.last = number
      }
    }
    if !record.actions.isEmpty, operations < 400 {
      let action = record.actions.removeFirst()
      // The depth of nested sends is limited.
      if sends < 3 || !(8...12).contains(action.code % 24) { perform(action) }
    }
  }

  private var hasSentWithin = false

  private func send(_ first: Int, _ second: Int) {
    let index = first % proxies.count
    guard let proxy = proxies[index] else { return }
    number += 1
    let number = number
    if sends > 0 { hasSentWithin = true }
    let name = second % 4
    let before = records.map { record in
      (record, record.changes, record.isAlive, record.places.count { $0.proxy == index && $0.isFor(name) })
    }
    let allBefore = records.reduce(0) { $0 + $1.changes }
    sends += 1
    show("  \(selectors[name]) \(number) is sent by way \(second / 4 % 5)")
    let thrownBefore = thrown
    var endsEarly = false
    switch (name, second / 4 % 5) {
    case (0, 0), (0, 1): proxy.broadcast(.note, number)
    case (1, 0), (1, 1): proxy.broadcast(.say, number)
    case (2, 0), (2, 1): proxy.broadcast(.fail, number)
    case (3, 0): proxy.broadcast(.value, number)
    case (3, 1): _ = try? proxy.collect(.value, number, returning: .all)
    case (3, 2):
      _ = try? proxy.collect(.value, number, returning: .first)
      endsEarly = true
    case (_, 3) where name != 2:
      // A report contains the errors of its targets, so onError does not get them.
      _ = try? proxy.forwardBlocking(Invocation(selectors[name], arguments: [ArgumentBox(number)]), timeout: .zero)
      endsEarly = true
    default: proxy.broadcast(Invocation(selectors[name], arguments: [ArgumentBox(number)]))
    }
    sends -= 1
    let isDisturbed = allBefore != records.reduce(0) { $0 + $1.changes }
    for (record, changes, wasAlive, count) in before {
      if isNested {
        record.most += record.places.count
        continue
      }
      record.most +=
        wasAlive || record.places.contains { !$0.isRemoved } ? max(count, isDisturbed ? record.places.count : 0) : 0
      if count == 1, wasAlive, changes == record.changes, record.isAlive, !endsEarly, !record.isAmbiguous,
        !(stopsAtFirst && (thrown > thrownBefore || isDisturbed))
      {
        record.least += 1
      }
    }
  }

  /// Sends a message whose sender may wait for capacity or answers.
  private func sendLate(_ first: Int, _ second: Int) {
    let index = first % proxies.count
    guard let proxy = proxies[index], tasks.count < 16 else { return }
    number += 1
    let number = number
    lateNumbers.insert(number)
    lateSends += 1
    runningTasks += 1
    let task = Task(executorPreference: executor) { [unowned self, weak proxy] in
      await wait(for: number, kind: second % 6, at: proxy)
    }
    tasks.append(task)
  }

  private func wait(
    for number: Int, kind: Int, at proxy: MulticastProxy<any MessageReceiver & Sendable>?
  ) async {
    defer { runningTasks -= 1 }
    guard let proxy else { return }
    do {
      switch kind {
      case 0, 1: try await proxy.broadcastWhenReady(.note, number)
      case 2: try await proxy.broadcastWhenReady(.say, number)
      case 3:
        let answers = try await proxy.collectAndWait(.value, number, returning: .all)
        require(answers.allSatisfy { $0 == number }, "an answer of another message")
      case 4:
        let report = try await proxy.forwardAndWait(Invocation(selectors[0], arguments: [ArgumentBox(number)]))
        require(report.failures.isEmpty, "a message failed that cannot")
      default: _ = try await proxy.drain()
      }
    } catch is CancellationError {
      require(Task.isCancelled, "a wait is canceled that nobody canceled")
    } catch { fail("a wait ended with \(error)") }
  }

  // MARK: Queries and rare events

  private func ask(_ first: Int) {
    guard let proxy = proxies[first % proxies.count] else { return }
    let live = records.filter(\.isAlive).flatMap(\.places).filter { $0.proxy == first % proxies.count && !$0.isRemoved }
    if !isNested {
      require(proxy.count == live.count, "\(proxy.count) targets, \(live.count) are there")
      require(proxy.registrations.count == live.count && proxy.targets.count == live.count)
      for (name, selector) in selectors.enumerated() {
        let wanted = live.count { $0.isFor(name) }
        require(proxy.responds(to: selector) == (wanted > 0), "answers a question wrongly")
        require(proxy.count(for: selector) == wanted, "counts those who respond wrongly")
      }
    }
    _ = proxy.description
    for place in live { _ = place.registration.description }
  }

  private func unusual(_ first: Int, _ second: Int) {
    switch first % 6 {
    case 0 where isNested:
      // One proxy becomes a target of the other, queued or direct.
      guard let outer = proxies[0], let inner = proxies[1] else { return }
      let context = second % 4
      linkContexts.insert(context)
      link = outer.add(
        inner, delivery: context == 3 ? .direct : .on(contexts[context]),
        ownership: second / 4 % 2 == 0 ? .weak : .strong,
        buffer: buffer(second / 8).0)
    case 1 where isNested:
      switch second % 3 {
      case 0: link?.mute()
      case 1: link?.unmute()
      default: link?.cancel()
      }
    case 2 where second % 4 == 0:
      // A proxy is released: its waiting messages are still delivered.
      let index = second / 4 % proxies.count
      proxies[index] = nil
      for record in records {
        record.changes += 1
        for place in record.places where place.proxy == index { place.proxy = -1 }
      }
    case 3:
      for (index, proxy) in proxies.enumerated() where proxy == nil { proxies[index] = newProxy() }
      for record in records {
        for place in record.places where place.registration.isCancelled { place.isRemoved = true }
      }
    case 4 where second % 4 == 0:
      proxies[0]?.removeAll()
      if proxies[0] != nil {
        for record in records {
          record.changes += 1
          for place in record.places where place.proxy == 0 { place.isRemoved = true }
        }
      }
    case 5: for proxy in proxies { _ = try? proxy?.drainBlocking(timeout: .nanoseconds(1)) }
    default: break
    }
  }

  // MARK: Invariants

  private func check() {
    require(foreign.isEmpty, "\(foreign)")
    // Through a queued proxy, messages also reach targets that were added later.
    if isNested { return }
    for record in records {
      let came = record.came
      require(came <= record.most + lateSends * max(record.places.count, 1), "more messages came than were sent")
      // The messages that certainly wait must not exceed the bound.
      if record.places.count == 1, let bound = record.places[0].bound, record.places[0].context < 3,
        !record.isAmbiguous,
        record.places[0].registration.isLive, lateSends == 0
      {
        require(record.least - came <= bound, "more messages wait than the bound")
      }
    }
  }

  /// Runs everything that waits, and expects that nothing is left.
  func end() {
    var goesOn = true
    while goesOn {
      goesOn = false
      for context in contexts { while context.step() { goesOn = true } }
      while executor.step() { goesOn = true }
    }
    check()
    require(runningTasks == 0, "a sender waits for ever")
    for record in records {
      require(record.came >= record.least, "\(record.least - record.came) messages are lost")
    }
    require(reported <= thrown && (lateSends > 0 || isNested || reported == thrown), "an error is lost")
    proxies = []
    link = nil
    for record in records {
      (record.held, record.actions) = (nil, [])
      require(record.member == nil, "a target is kept by nobody knows whom")
    }
    records = []
  }
}
