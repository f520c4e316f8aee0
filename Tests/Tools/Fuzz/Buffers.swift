// Buffers.swift: compares a bounded buffer with its mailbox and gate to a model.

@testable import Forwardcast

/// Runs an input as operations on one buffer, and on a list of the messages that must wait in it.
func bufferSchedule(_ program: consuming Program) {
  var program = program
  let stage = LineStage(&program)
  while !program.isAtEnd { stage.perform(&program) }
  stage.end()
}

private let selectors: [MessageSelector] = ["first:", "second:", "third:"]

/// A message in the buffer, or one outside it.
private final class Letter: Envelope, @unchecked Sendable {  // the fuzzer has one thread
  let number: Int
  private let name: MessageSelector?
  /// True if its method suspends, so that the gate closes.
  let suspends: Bool
  /// True if the letter checks the gate itself; the buffer checks it for its own letters.
  private let looksAtGate: Bool
  private unowned let stage: LineStage

  init(_ number: Int, _ name: MessageSelector?, suspends: Bool, looksAtGate: Bool, _ stage: LineStage) {
    (self.number, self.name, self.suspends, self.looksAtGate, self.stage) = (number, name, suspends, looksAtGate, stage)
    super.init()
  }

  override var selector: MessageSelector? { name }

  override func open(in mailbox: Mailbox) -> Int {
    if looksAtGate, mailbox.park(self, 0, at: stage.gate) { return 1 }
    stage.opened(self, in: mailbox)
    return 1
  }

  override func resume(_ index: Int, in mailbox: Mailbox) { stage.opened(self, in: mailbox) }
}

private final class LineStage: @unchecked Sendable {  // the fuzzer has one thread
  let gate = SerialGate()
  private let context: StepContext
  private let mailbox: Mailbox
  private let line: BufferedLine
  private let executor = StepExecutor()

  // The model: the messages that wait, the reserved slots, and the waiting senders in order.
  private var waiting: [(number: Int, name: MessageSelector?)] = []
  private var places = 0
  private var senders: [Int] = []
  private var admitted: Set<Int> = []
  private var buffer: DeliveryBuffer

  private var tasks: [Int: Task<Void, Never>] = [:]
  private var runningTasks = 0
  private var number = 0
  private var lastInLine = 0
  private var lastOutside = 0
  private var (offered, opened, dropped) = (0, 0, 0)
  private var (posted, openedOutside) = (0, 0)
  private var isShut = false

  init(_ program: inout Program) {
    context = StepContext("c", turn: [1, 3, 512][program.below(3)])
    mailbox = Mailbox(context)
    buffer = LineStage.buffer(&program)
    line = BufferedLine(buffer, gate: gate)
  }

  private static func buffer(_ program: inout Program) -> DeliveryBuffer {
    let bound = 1 + program.below(4)
    return switch program.below(6) {
    case 0: .unbounded
    case 1: .keepNewest(bound)
    case 2: .keepOldest(bound)
    case 3: .latestPerSelector
    default: .suspendSender(bound)
    }
  }

  func perform(_ program: inout Program) {
    switch program.below(16) {
    case 0...3: offer(selectors[program.below(3)], reserved: false, suspends: program.below(4) == 0)
    case 4: context.step()
    case 5: context.step(); context.step()
    case 6: executor.step()
    case 7: post(suspends: program.below(3) == 0, looksAtGate: program.below(2) == 0)
    case 8, 9: send(gives: program.below(3) == 0)
    case 10: cancel(program.below(8))
    case 11: change(to: LineStage.buffer(&program))
    case 12, 13: reopen()
    case 14: reserveAtOnce(fills: program.below(2) == 0)
    default: while context.step() {}
    }
    check()
  }

  // MARK: Messages

  private func nextNumber() -> Int {
    number += 1
    return number
  }

  private func offer(_ name: MessageSelector, reserved: Bool, suspends: Bool) {
    let letter = Letter(nextNumber(), name, suspends: suspends, looksAtGate: false, self)
    offered += 1
    if reserved { places -= 1 }
    var lost: Int?
    switch buffer.policy {
    case .unbounded: break
    case .keepNewest(let bound):
      if waiting.count + places >= bound, !waiting.isEmpty { lost = waiting.removeFirst().number }
    case .keepOldest(let bound), .suspendSender(let bound):
      if waiting.count + places >= bound { lost = letter.number }
    case .latestPerSelector:
      if let index = waiting.firstIndex(where: { $0.name == name }) { lost = waiting.remove(at: index).number }
    }
    if lost != letter.number { waiting.append((letter.number, name)) }
    let found = line.offer(letter, reserved: reserved, to: mailbox) as? Letter
    require(found?.number == lost, "a full buffer dropped another message than it should have")
    if lost != nil { dropped += 1 }
  }

  private func post(suspends: Bool, looksAtGate: Bool) {
    posted += 1
    mailbox.post(Letter(nextNumber(), nil, suspends: suspends && looksAtGate, looksAtGate: looksAtGate, self))
  }

  func opened(_ letter: Letter, in mailbox: Mailbox) {
    require(context.isCurrent || context.isConcurrent, "a message is opened elsewhere")
    if letter.selector == nil {
      openedOutside += 1
      if letter.suspends { require(!isShut, "a message runs beside one that suspends") }
    } else {
      require(!isShut, "a message of the line runs beside one that suspends")
      require(waiting.first?.number == letter.number, "a message is opened out of turn, or twice")
      require(letter.number > lastInLine, "a message overtook another")
      lastInLine = letter.number
      waiting.removeFirst()
      opened += 1
      admit()
    }
    mailbox.noteTurn()
    if letter.suspends {
      isShut = true
      mailbox.close(gate)
    }
  }

  private func reopen() {
    guard isShut else { return }
    isShut = false
    mailbox.reopen(gate)
    while context.step() {}
  }

  private func change(to new: DeliveryBuffer) {
    buffer = new
    var lost: [Int] = []
    switch new.policy {
    case .keepNewest(let bound): while waiting.count > bound { lost.append(waiting.removeFirst().number) }
    case .latestPerSelector:
      for (index, item) in waiting.enumerated() where waiting[(index + 1)...].contains(where: { $0.name == item.name })
      {
        lost.append(item.number)
      }
      waiting.removeAll { lost.contains($0.number) }
    default: break
    }
    admit()
    let found = line.change(to: new).compactMap { ($0 as? Letter)?.number }
    require(Set(found) == Set(lost) && found.count == lost.count, "a change of the bound dropped other messages")
    dropped += lost.count
  }

  // MARK: Senders

  private var isFull: Bool {
    guard case .suspendSender(let bound) = buffer.policy else { return false }
    return waiting.count + places >= bound
  }

  private func admit() {
    while !senders.isEmpty, !isFull {
      places += 1
      admitted.insert(senders.removeFirst())
    }
  }

  /// A sender that waits for a slot, and then sends or gives it back.
  private func send(gives: Bool) {
    guard tasks.count < 24 else { return }
    let id = nextNumber()
    runningTasks += 1
    tasks[id] = Task(executorPreference: executor) { [unowned self] in await self.wait(id, gives) }
  }

  private func wait(_ id: Int, _ gives: Bool) async {
    defer { runningTasks -= 1 }
    if !Task.isCancelled {
      if senders.isEmpty, !isFull {
        places += 1
        admitted.insert(id)
      } else {
        senders.append(id)
      }
    }
    do {
      try await line.reserve()
      require(admitted.remove(id) != nil, "a sender got room before its turn")
      if gives {
        places -= 1
        admit()
        line.giveBack()
      } else {
        offer(selectors[id % 3], reserved: true, suspends: false)
      }
    } catch {
      require(!admitted.contains(id), "a sender that has room was sent away")
      require(Task.isCancelled, "a sender was sent away for nothing")
    }
  }

  private func cancel(_ choice: Int) {
    let ids = tasks.keys.sorted()
    guard !ids.isEmpty else { return }
    let id = ids[choice % ids.count]
    senders.removeAll { $0 == id }
    tasks[id]?.cancel()
  }

  private func reserveAtOnce(fills: Bool) {
    let hasRoom = senders.isEmpty && !isFull
    require(line.reserveAtOnce() == hasRoom, "room where there is none, or none where there is")
    guard hasRoom else { return }
    places += 1
    if fills { return offer(selectors[0], reserved: true, suspends: false) }
    places -= 1
    admit()
    line.giveBack()
  }

  // MARK: Invariants

  private func check() {
    require(line.count == waiting.count, "more or fewer messages wait than should")
    require(line.waitingSenders == senders.count, "more or fewer senders wait than should")
    require(line.buffer == buffer, "another buffer")
    switch buffer.policy {
    case .keepNewest(let bound): require(waiting.count <= bound, "more than the bound")
    case .latestPerSelector: require(waiting.count <= selectors.count, "more than one of a selector")
    case .unbounded, .keepOldest, .suspendSender: break
    }
    require(offered == opened + dropped + waiting.count, "a message is lost")
    require(line.suspendsSenders == { if case .suspendSender = buffer.policy { true } else { false } }())
  }

  /// Runs everything that waits, and expects that nothing is left.
  func end() {
    change(to: .unbounded)
    var goesOn = true
    while goesOn {
      goesOn = false
      while executor.step() || context.step() { goesOn = true }
      if isShut {
        reopen()
        goesOn = true
      }
    }
    check()
    require(runningTasks == 0 && senders.isEmpty && admitted.isEmpty, "a sender waits for ever")
    require(waiting.isEmpty && mailbox.isAsleep && !mailbox.hasClosedGates, "a message waits for ever")
    require(posted == openedOutside, "a message beside the line is lost")
    require(mailbox.delivered == opened + openedOutside, "turns are counted wrongly")
  }
}
