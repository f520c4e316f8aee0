// Reference.swift: what the specification says that a program does.
// Plain Swift, one thread, no type of the library.

/// An error, and the proxies on the way to where it happened, the outermost first.
struct Fault {
  var text: String
  var way: [Int]
  /// Whether it stands in a report with its target: then hooks see it, and the sender is not thrown it.
  var isListed = false
}

/// What a target answered.
struct Answer {
  var value: Int
  var node: Node?
}

/// One registration.
final class Place {
  let object: Object
  let proxy: Int
  let context: Int?
  let only: Set<Word>?
  let key: AdditionKey
  var priority: Int
  var isStrong: Bool
  var buffer: Buffer
  var deliversPending: Bool
  var isMuted = false
  var isCancelled = false
  /// Other registrations of its target for its context, when it was cancelled.
  var besides: [Place] = []
  /// Whether it has had a bound: what was sent before does not count.
  var hasLine: Bool
  var waiting: [Parcel] = []
  /// Whether a message of it is under way that was suspended, and those that came meanwhile.
  var isBusy = false
  var parked: [Parcel] = []
  /// Places in the buffer that senders have who wait, before anything is posted.
  var reserved = 0

  init(_ addition: Addition) {
    (object, proxy, context, key) = (addition.object, addition.proxy, addition.context, AdditionKey(addition))
    (priority, isStrong) = (addition.priority ?? 0, addition.isStrong)
    only = addition.only.map(Set.init)
    (buffer, deliversPending) = (addition.buffer, addition.deliversPending)
    hasLine = addition.buffer != .unbounded
  }

  /// Whether its messages leave apart from those of its neighbours.
  var travelsAlone: Bool { hasLine || deliversPending }
}

/// What makes an addition the same once more.
struct AdditionKey: Hashable {
  let object: Object
  let context: Int?
  let only: Set<Word>?
  init(_ addition: Addition) {
    (object, context, only) = (addition.object, addition.context, addition.only.map(Set.init))
  }
}

/// A hook that is installed.
final class InstalledHook {
  let setup: HookSetup
  let number: Int
  var isCancelled = false
  var hasRun = false
  init(_ setup: HookSetup, _ number: Int) { (self.setup, self.number) = (setup, number) }
}

/// A target, or a nested proxy, as it was when the message began.
final class Node {
  enum Outcome: Equatable {
    case open, queued, delivered(Int?, wasQueued: Bool), failed(String), skipped(String), unlisted
  }
  /// The registrations on the way to it, from the outermost.
  let way: [Place]
  let object: Object
  /// The row that a target had: its version, or `nil` where it did not respond.
  let row: Int?
  /// What a nested proxy had.
  var level: Level?
  var outcome = Outcome.open
  var isPosted = false
  /// Why the message was not for it when its turn came.
  var early: String?
  /// Whether a nested proxy was entered, and its hooks threw an error.
  var (isEntered, hasFailed) = (false, false)
  /// Whether it has a place in the buffer, or shares that of another way to the same registration.
  var (holdsRoom, sharesRoom) = (false, false)
  /// What came of it on its context, and who waits for that where.
  var served: Served?
  var onServed: ((Served) -> Void)?
  var home = Home.sender
  var place: Place { way[way.count - 1] }
  init(way: [Place], object: Object, row: Int?) { (self.way, self.object, self.row) = (way, object, row) }
}

/// A proxy, as it was when the message began.
final class Level {
  let proxy: Int
  let hooks: [InstalledHook]
  let nodes: [Node]
  /// The proxies on the way to it and itself.
  let way: [Int]
  var hasPosted = false
  /// The answer that a hook gave in place of the targets'.
  var own: Node?
  /// Whether there are registrations whose targets have died, and which may be listed in place of an empty proxy.
  var hadDead = false
  init(_ proxy: Int, hooks: [InstalledHook], nodes: [Node], way: [Int]) {
    (self.proxy, self.hooks, self.nodes, self.way) = (proxy, hooks, nodes, way)
  }
}

/// Where whoever waits goes on.
enum Home { case sender, context(Int), inPlace }

/// What has its turn on a context.
enum Turn {
  case parcel(Parcel), job(() -> Void)
  var parcel: Parcel? { if case .parcel(let parcel) = self { parcel } else { nil } }
}

/// A message that is on its way.
final class Travel {
  let send: Send
  let number: Int
  let root: Int
  /// Registrations that had ended before: a report may have them still.
  var ended: [String] = []
  var dropped = 0
  /// Targets that were dead when it came to them, or before.
  var dead = 0
  var failuresOfHooks = 0
  var isOver = false
  /// Targets that ran it: a report holds them.
  var called: Set<Int> = []
  /// Whether a target ran, whatever hooks made of it.
  var hasRun = false
  /// Targets that were registered strongly when it began, which it keeps.
  var pinned: Set<Int> = []
  init(_ send: Send, number: Int) { (self.send, self.number, root) = (send, number, send.proxy) }
  /// Whether the sender waits for what runs elsewhere, not for room alone.
  var waits: Bool { send.verb.waits && send.verb != .broadcastWhenReady }
  var mode: Mode {
    send.verb.policy.map { .collect($0) }
      ?? (send.verb == .forward || send.verb == .forwardAndWait ? .report : .broadcast)
  }
}

/// What is made of outcomes: nothing, a list of them, or a result of the answers.
enum Mode: Equatable {
  case broadcast, report, collect(Policy)
  var policy: Policy? { if case .collect(let policy) = self { policy } else { nil } }
}

/// A message that waits on a context for one registration.
final class Parcel {
  let node: Node
  let travel: Travel
  let argument: Int
  let deliversPending: Bool
  /// Whether its sender has stopped waiting for it.
  var isSettled = false
  init(_ node: Node, _ travel: Travel, _ argument: Int) {
    (self.node, self.travel, self.argument) = (node, travel, argument)
    deliversPending = node.place.deliversPending
  }
}

/// What came of a part of a message.
struct Served {
  var answers: [Answer] = []
  /// Errors that the sender is to be thrown.
  var errors: [Fault] = []
  /// Those that came when it needed no more.
  var late: [Fault] = []
  /// Whether there was an error, whoever was told.
  var hasFailed = false
}

final class Reference {
  let program: Program
  var places: [[Place]]
  var additions: [Int: Place] = [:]
  var ended: [[Place]]
  var hooks: [[InstalledHook]]
  var installed: [InstalledHook] = []
  var rows: [[Word: Int]]
  var held: [Bool]
  var running: [Int]
  var acted: Set<Int> = []
  var contexts: [[Turn]] = Array(repeating: [], count: Program.contexts)
  /// What goes on when those who wait get their turn.
  var ready: [() -> Void] = []
  var waitingForRoom: [(isReady: () -> Bool, go: () -> Void)] = []
  var journal: Journal = []
  var step = 0
  var sends = 0
  var added = 0
  /// Messages whose senders wait, or get a report.
  var open: [Travel] = []

  init(_ program: Program) {
    self.program = program
    places = Array(repeating: [], count: program.proxies.count)
    ended = places
    hooks = Array(repeating: [], count: program.proxies.count)
    rows = program.targets.map { target in
      Dictionary(uniqueKeysWithValues: Word.allCases.filter(target.shape.has).map { ($0, 0) })
    }
    held = Array(repeating: true, count: program.targets.count)
    running = Array(repeating: 0, count: program.targets.count)
  }

  static func journal(of program: Program) -> Journal {
    let reference = Reference(program)
    for (index, step) in program.steps.enumerated() {
      reference.step = index
      reference.take(step)
      reference.letGo()
    }
    reference.finish()
    return reference.journal
  }

  private func finish() {
    for round in 0..<Program.rounds {
      step = program.steps.count + round
      for context in 0..<Program.contexts { run(context); letGo() }
    }
    step = program.steps.count + Program.rounds
    if !open.isEmpty { note("program", "\(open.count) senders still wait") }
  }

  private func letGo() {
    while !ready.isEmpty { ready.removeFirst()() }
  }

  private func take(_ step: Step) {
    switch step {
    case .act(let action): act(action)
    case .run(let context): run(context)
    case .question(let word, let proxy):
      note("p\(proxy)", "responds to \(word): \(responds(proxy, word, passed: []))")
    }
  }

  func note(
    _ actor: String, _ text: String, also: [String] = [], skipped: [String]? = nil, maySkip: [String] = [],
    either: [String: Set<String>] = [:]
  ) {
    journal.append(
      Event(step: step, actor: actor, text: text, also: also, skipped: skipped, maySkip: maySkip, either: either))
  }

  // MARK: - Actions

  func act(_ action: Action) {
    switch action {
    case .add(let addition): add(addition)
    case .remove(let object, let proxy): named(object, in: proxy).forEach(cancel)
    case .cancel(let number): if let place = additions[number] { cancel(place) }
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
    case .send(let send): self.send(send)
    }
  }

  /// The registrations of an object, which nobody can name who does not hold it.
  private func named(_ object: Object, in proxy: Int) -> [Place] {
    if case .target(let target) = object, !held[target] { return [] }
    return places[proxy].filter { $0.object == object }
  }

  private func add(_ addition: Addition) {
    defer { added += 1 }
    if case .target(let target) = addition.object, !held[target] { return }
    let key = AdditionKey(addition)
    let same = places[addition.proxy].first { $0.key == key && isAlive($0) }
    if let same, !program.proxies[addition.proxy].allowsDuplicates {
      (same.isStrong, same.deliversPending) = (addition.isStrong, addition.deliversPending)
      change(same, to: addition.buffer)
      additions[added] = same
      let priority = addition.priority ?? same.priority
      guard same.priority != priority else { return }
      places[addition.proxy].removeAll { $0 === same }
      same.priority = priority
      insert(same)
    } else {
      let place = Place(addition)
      additions[added] = place
      insert(place)
    }
  }

  private func change(_ place: Place, to buffer: Buffer) {
    guard place.context != nil, place.buffer != buffer else { return }
    (place.buffer, place.hasLine) = (buffer, true)
    switch buffer {
    case .keepNewest(let count): place.waiting.dropLast(count).forEach(takeBack)
    case .latestPerSelector:
      let waiting = place.waiting
      for (index, parcel) in waiting.enumerated()
      where waiting[(index + 1)...].contains(where: { $0.travel.send.word == parcel.travel.send.word }) {
        takeBack(parcel)
      }
    case .unbounded, .keepOldest, .suspendSender: break
    }
    roomChanged()
  }

  private func insert(_ place: Place) {
    let index = places[place.proxy].firstIndex { $0.priority < place.priority } ?? places[place.proxy].count
    places[place.proxy].insert(place, at: index)
  }

  private func cancel(_ place: Place) {
    guard !place.isCancelled else { return }
    place.isCancelled = true
    places[place.proxy].removeAll { $0 === place }
    place.besides = places[place.proxy].filter { $0.object == place.object && $0.context == place.context }
    ended[place.proxy].append(place)
    let (outer, waiting) = (current, contexts.joined().compactMap(\.parcel) + places.joined().flatMap(\.parked))
    for parcel in waiting where parcel.travel.waits && parcel.node.way.contains(where: { $0 === place }) {
      // A report lists the targets of a proxy when its context comes to it.
      let isListedLater = parcel.node.level != nil && parcel.travel.mode == .report
      if !isListedLater, !parcel.isSettled, obstacle(parcel) == "removed" { end(parcel, "removed") }
    }
    current = outer
    roomChanged()
  }

  // MARK: - Questions

  func isAlive(_ place: Place) -> Bool {
    guard case .target(let target) = place.object else { return true }
    if held[target] || running[target] > 0 || open.contains(where: { $0.pinned.contains(target) }) { return true }
    if open.contains(where: { $0.called.contains(target) && $0.mode == .report }) {
      return true
    }
    return places.joined().contains { $0.object == place.object && $0.isStrong }
      || contexts.joined().contains { $0.parcel.map { $0.deliversPending && $0.node.object == place.object } ?? false }
  }

  /// Why a registration gets no message, or `nil`.
  private func obstacle(_ place: Place) -> String? {
    place.isCancelled ? "removed" : !isAlive(place) ? "dead" : place.isMuted ? "muted" : nil
  }

  private func responds(_ proxy: Int, _ word: Word, passed: [Int]) -> Bool {
    !passed.contains(proxy)
      && places[proxy].contains { place in
        guard obstacle(place) == nil, place.only?.contains(word) ?? true else { return false }
        switch place.object {
        case .target(let target): return rows[target][word] != nil
        case .proxy(let inner): return responds(inner, word, passed: passed + [proxy])
        }
      }
  }

  // MARK: - A message begins

  private func level(_ proxy: Int, _ word: Word, way: [Place]) -> Level {
    let nodes = places[proxy].filter(isAlive).map { place in
      let way = way + [place]
      switch place.object {
      case .target(let target): return Node(way: way, object: place.object, row: rows[target][word])
      case .proxy(let inner):
        let node = Node(way: way, object: place.object, row: nil)
        node.level = level(inner, word, way: way)
        return node
      }
    }
    let own = hooks[proxy].filter {
      !$0.isCancelled && ($0.setup.word == nil || $0.setup.word == word || $0.setup.kind == .trace)
    }
    // Streams take messages as their targets get them: inside of all hooks.
    let streams = own.filter { $0.setup.kind == .stream }
    let above = own.reversed().filter { $0.setup.kind != .stream }
    let made = Level(proxy, hooks: above + streams, nodes: nodes, way: way.map(\.proxy) + [proxy])
    made.hadDead = nodes.count < places[proxy].count
    return made
  }

  func send(_ send: Send) {
    let travel = Travel(send, number: sends)
    sends += 1
    func ended(_ proxy: Int, isRemoved: Bool = false) -> [String] {
      let own = isRemoved ? self.ended[proxy] + places[proxy] : self.ended[proxy]
      return own.flatMap { place -> [String] in
        guard case .proxy(let inner) = place.object else { return [] }
        return ended(inner, isRemoved: true)
      }
        + own.flatMap { place -> [String] in
          // Who was added anew is listed by the registration that is there.
          let isAnew =
            !program.proxies[proxy].allowsDuplicates && places[proxy].contains { $0.object == place.object }
          let isThere =
            !isRemoved && place.object.isTarget
            && (isAnew
              || place.besides.contains { !$0.isCancelled && $0.isMuted && $0.only?.contains(send.word) ?? true })
          return (isThere ? [] : ["\(place.object) removed"]) + ["nil removed", "nil dead"]
        }
        + places[proxy].flatMap { place -> [String] in
          guard case .proxy(let inner) = place.object else { return isAlive(place) ? [] : ["nil dead"] }
          return ended(inner, isRemoved: isRemoved)
        }
    }
    travel.ended = ended(send.proxy)
    let level = level(send.proxy, send.word, way: [])
    travel.dead = countDead(in: send.proxy)
    pin(level, travel)
    open.append(travel)
    let begin = {
      self.surrounded(
        level, Part(travel, travel.mode), send.argument, passed: { self.giveBackAll(level) },
        { served in
          self.finish(travel, level, served)
          self.open.removeAll { $0 === travel }
        })
    }
    guard send.verb.waits else { return begin() }
    whenThereIsRoom(in: level, travel, .sender, begin)
  }

  /// By each way that leads there.
  private func countDead(in proxy: Int) -> Int {
    places[proxy].reduce(0) { count, place in
      if case .proxy(let inner) = place.object {
        count + countDead(in: inner)
      } else {
        count + (isAlive(place) ? 0 : 1)
      }
    }
  }

  private func pin(_ level: Level, _ travel: Travel) {
    for node in level.nodes {
      if let inner = node.level { pin(inner, travel) }
      // A report keeps those as well that do not respond.
      guard node.place.isStrong, node.row == nil ? travel.mode == .report : node.place.context == nil else { continue }
      if case .target(let target) = node.object { travel.pinned.insert(target) }
    }
  }

  // MARK: - Room for those who wait

  private func reached(_ level: Level, _ word: Word) -> [Node] {
    level.nodes.flatMap { node -> [Node] in
      guard obstacle(node.place) == nil, node.place.only?.contains(word) ?? true else { return [] }
      // Behind a proxy on a context of its own room is waited for there.
      if let inner = node.level, node.place.context == nil { return reached(inner, word) }
      if node.level != nil { return limit(node.place) != nil ? [node] : [] }
      return node.row != nil && limit(node.place) != nil ? [node] : []
    }
  }

  private func limit(_ place: Place) -> Int? {
    if case .suspendSender(let count) = place.buffer, place.context != nil { count } else { nil }
  }

  private func whenThereIsRoom(
    in level: Level, _ travel: Travel, _ home: Home, _ begin: @escaping () -> Void
  ) {
    let nodes = reached(level, travel.send.word)
    guard !nodes.isEmpty else { return begin() }
    let isReady = {
      nodes.allSatisfy { node in
        node.way.contains { $0.isCancelled || $0.isMuted }
          || node.place.waiting.count + node.place.reserved < self.limit(node.place) ?? .max
      }
    }
    let take = {
      for (index, node) in nodes.enumerated() where !node.way.contains(where: { $0.isCancelled || $0.isMuted }) {
        // The specification does not say how many places a message takes to which several ways lead: one, so that it never
        // waits for itself.
        node.sharesRoom = nodes[..<index].contains { $0.place === node.place }
        if node.sharesRoom { continue }
        node.place.reserved += 1
        node.holdsRoom = true
      }
    }
    guard waitingForRoom.isEmpty, isReady() else {
      waitingForRoom.append(
        (
          isReady,
          {
            take()
            self.goOn(home, begin)
          }
        ))
      return
    }
    take()
    begin()
  }

  private func goOn(_ home: Home, _ body: @escaping () -> Void) {
    switch home {
    case .sender: ready.append(body)
    case .context(let context): contexts[context].append(.job(body))
    case .inPlace: body()
    }
  }

  private func giveBack(_ node: Node) {
    guard node.holdsRoom else { return }
    node.holdsRoom = false
    node.place.reserved -= 1
    roomChanged()
  }

  private func giveBackAll(_ level: Level) {
    for node in level.nodes {
      giveBack(node)
      if let inner = node.level, node.place.context == nil { giveBackAll(inner) }
    }
  }

  private func roomChanged() {
    while let first = waitingForRoom.first, first.isReady() { waitingForRoom.removeFirst().go() }
  }

  // MARK: - Around

  /// A message in one part of its way: on a context nobody takes what a target answers whose sender does not wait.
  struct Part {
    let travel: Travel
    let mode: Mode
    var isQueued = false
    /// Where those go on who wait in it.
    var home = Home.sender
    /// Whether a proxy around stops at the first error: then queued targets get it in their turn.
    var isInOrder = false
    /// Whether an answer before those of this part is not known yet: then none of these makes the result known; and whether
    /// those before do.
    var (isBehindOpen, isBehindKnown) = ({ false }, { false })
    /// Whether a hook stands around that does not wait.
    var isInTurn = false
    /// Told of an error that no hook can take any more, when it happens.
    var noteFailure = {}
    init(_ travel: Travel, _ mode: Mode) { (self.travel, self.mode) = (travel, mode) }
    var word: Word { travel.send.word }
  }

  /// A level with its hooks. `passed` is told when whoever comes behind it gets the message.
  private func surrounded(
    _ level: Level, _ part: Part, _ argument: Int, passed: @escaping () -> Void, _ done: @escaping (Served) -> Void
  ) {
    var hasPassed = false
    let pass = {
      guard !hasPassed else { return }
      hasPassed = true
      passed()
    }
    // A hook that waits holds its sender.
    let holds = part.travel.waits && isHeld(level)
    surrounded(level, part, argument, from: 0, passed: holds ? {} : pass) {
      done($0)
      pass()
    }
  }

  /// The hooks of a level, the outermost first, and then its targets.
  private func surrounded(
    _ level: Level, _ part: Part, _ argument: Int, from index: Int, passed: @escaping () -> Void,
    _ done: @escaping (Served) -> Void
  ) {
    guard index < level.hooks.count else { return inside(level, part, argument, passed: passed, done) }
    let hook = level.hooks[index]
    let setup = hook.setup
    let name = "h\(hook.number)"
    var inner = part
    switch setup.kind {
    case .after, .failingAfter, .around:
      inner.noteFailure = {}
      if case .around = setup.kind, setup.form == .plain { inner.isInTurn = true }
    case .before, .refusing, .stream, .trace: break
    }
    let within = { [inner] (argument: Int, done: @escaping (Served) -> Void) in
      self.surrounded(level, inner, argument, from: index + 1, passed: passed, done)
    }
    guard !hook.isCancelled else { return within(argument, done) }
    switch setup.kind {
    case .trace: within(argument, done)
    case .stream:
      note("stream \(name)", "takes \(part.word) \(argument)")
      within(argument, done)
    case .before, .refusing:
      note(name, "before \(part.word) \(argument)")
      begin(hook)
      guard setup.kind == .refusing else { return within(argument, done) }
      refuse(level, part, "\(name) throws", done)
    case .after, .failingAfter:
      within(argument) { served in
        guard !hook.isCancelled, self.outgoing(served, part).error == nil else { return done(served) }
        self.note(name, "after \(part.word) \(argument): \(served.answers.map(\.value))")
        self.begin(hook)
        guard setup.kind == .failingAfter else { return done(served) }
        for fault in served.errors + served.late where !fault.isListed { self.report(fault, part) }
        self.fail(level, part, "\(name) throws", done)
      }
    case .around(let around):
      if part.travel.send.verb.waits && !part.isInTurn
        ? setup.form == .plain && hasQueued(level) : setup.form == .waiting
      {
        return refuse(level, part, "isolation mismatch", done)
      }
      note(name, "around \(part.word) \(argument)")
      // A hook that may wait keeps no place.
      let lends = part.travel.send.verb.waits && setup.form != .plain
      if lends { giveBackAll(level) }
      begin(hook)
      let onward = { [within] (argument: Int, done: @escaping (Served) -> Void) in
        guard lends else { return within(argument, done) }
        self.whenThereIsRoom(in: level, part.travel, part.home) { within(argument, done) }
      }
      let leave = { (served: Served) in
        // What `proceed` throws ends the hook too, unless it is taken for no answer.
        let isThrown = self.outgoing(served, part).error != nil
        if isThrown, around != .swallow { return done(served) }
        var served = served
        if isThrown {
          for fault in served.errors.dropFirst() { self.report(fault, part) }
          (served.answers, served.errors, served.hasFailed) = ([], [], false)
          // Not as many answers as the targets gave: these stand without one.
          self.withoutAnswers(level, part)
        }
        self.note(name, "leaves \(part.word) \(argument): \(served.answers.map(\.value))")
        if around == .change, part.word == .ask {
          for index in served.answers.indices { served.answers[index].value += 1000 }
        }
        done(served)
      }
      switch around {
      case .pass, .change, .swallow: onward(argument, leave)
      case .argument: onward(argument + 100, leave)
      case .twice:
        let (before, called) = (part.travel.failuresOfHooks, part.travel.called)
        onward(argument) { served in
          guard self.outgoing(served, part).error == nil else { return done(served) }
          // The second one counts; what no hook was thrown is told.
          (part.travel.failuresOfHooks, part.travel.called) = (before, called)
          for fault in served.errors + served.late { self.report(fault, part) }
          onward(argument, leave)
        }
      case .skip, .own:
        current = part
        withhold(level)
        level.own = nil
        guard around == .own, part.word == .ask else { return done(Served()) }
        guard part.mode == .report else { return done(Served(answers: [Answer(value: 7)])) }
        level.own = Node(way: [], object: .proxy(level.proxy), row: nil)
        level.own?.outcome = .delivered(7, wasQueued: part.isQueued)
        done(Served(answers: [Answer(value: 7, node: level.own)]))
      }
    }
  }

  /// What a hook is given of that which it surrounds: answers as far as the sender asked for them, or an error.
  private func outgoing(_ served: Served, _ part: Part) -> (answers: [Answer], error: Fault?) {
    if part.mode.policy == .firstSuccess, !served.answers.isEmpty { return (served.answers, nil) }
    return (served.answers, served.errors.first)
  }

  private func begin(_ hook: InstalledHook) {
    guard !hook.hasRun else { return }
    hook.hasRun = true
    hook.setup.actions.forEach(act)
  }

  private func hasQueued(_ level: Level) -> Bool {
    level.nodes.contains { $0.place.context != nil || $0.level.map(hasQueued) ?? false }
  }

  private func refuse(_ level: Level, _ part: Part, _ text: String, _ done: (Served) -> Void) {
    current = part
    withhold(level)
    fail(level, part, text, done)
  }

  /// What a hook throws is the error of the send: nobody receives that of a broadcast.
  private func fail(_ level: Level, _ part: Part, _ text: String, _ done: (Served) -> Void) {
    let fault = Fault(text: text, way: level.way)
    done(Served(errors: [fault], hasFailed: true))
  }

  private func withoutAnswers(_ level: Level, _ part: Part) {
    for node in leaves(level) {
      switch node.outcome {
      case .delivered(_, let wasQueued): node.outcome = .delivered(nil, wasQueued: wasQueued)
      // A hook took the error: the target ran. That of hooks inside is of nobody who ran.
      case .failed where part.mode == .broadcast: break  // Told, and thrown to no hook.
      case .failed:
        let wasQueued = part.isQueued || node.place.context != nil
        node.outcome = node.level == nil ? .delivered(nil, wasQueued: wasQueued) : .unlisted
      default: break
      }
    }
  }

  private func withhold(_ level: Level) {
    for node in level.nodes { skip(node, "withheld by a hook") }
  }

  /// Nobody is thrown what a hook throws in a broadcast.
  private func takeErrorsOfHooks(_ served: inout Served, _ part: Part) {
    guard part.mode == .broadcast else { return }
    for fault in served.errors {
      report(fault, part)
      part.travel.failuresOfHooks += 1
    }
    served.errors = []
  }

  /// Tells the innermost handler of errors.
  private func report(_ fault: Fault, _ part: Part) {
    let handler = fault.way.last { program.proxies[$0].hasErrorHandler }
    note(handler.map { "onError p\($0)" } ?? "nobody", "\(part.word): \(fault.text)")
  }

  // MARK: - The targets of a level

  private func mayStop(_ level: Level, _ part: Part) -> Bool {
    part.isInOrder || part.mode.policy?.mayStopEarly ?? false || program.proxies[level.proxy].stopsAtFirst
  }

  private func inside(
    _ level: Level, _ part: Part, _ argument: Int, passed: @escaping () -> Void, _ done: @escaping (Served) -> Void
  ) {
    reopen(level)
    var part = part
    part.isInOrder = part.isInOrder || program.proxies[level.proxy].stopsAtFirst
    if part.mode == .broadcast { postToDead(level, part) }
    if !mayStop(level, part) { postAll(level, part, argument) }
    let left = {
      // What nobody has needed.
      self.giveBackAll(level)
      passed()
    }
    serve(level, part, argument, passed: left) { served in
      self.giveBackAll(level)
      // Hooks inside may have answered for whom they withheld it from.
      guard self.program.proxies[level.proxy].silenceIsThrown, self.isSilent(level), served.answers.isEmpty else {
        return done(served)
      }
      guard part.mode == .broadcast else { return self.fail(level, part, "nobody responds", done) }
      self.report(Fault(text: "nobody responds", way: level.way), part)
      done(served)
    }
  }

  private func reopen(_ level: Level) {
    (level.hasPosted, level.own) = (false, nil)
    for node in level.nodes {
      (node.outcome, node.isPosted, node.served, node.onServed) = (.open, false, nil, nil)
      (node.isEntered, node.hasFailed) = (false, false)
      if let inner = node.level { reopen(inner) }
    }
  }

  private func isSilent(_ level: Level) -> Bool {
    level.nodes.allSatisfy { node in
      if node.hasFailed { return false }
      if let inner = node.level, !inner.nodes.isEmpty, node.outcome != .queued { return isSilent(inner) }
      switch node.outcome {
      case .open, .unlisted: return !node.isPosted
      case .skipped(let reason): return reason != "buffer full"
      case .queued, .delivered, .failed: return false
      }
    }
  }

  /// What is queued leaves first, in the order of delivery, also from nested proxies around which nothing stands.
  private func postAll(_ level: Level, _ part: Part, _ argument: Int) {
    level.hasPosted = true
    for node in level.nodes {
      // Who is no target of the message is passed by in its turn.
      if isLeftOut(node, part) { continue }
      if node.place.context != nil {
        if isReachable(node, part, in: level) { post(node, part, argument, in: level) }
      } else if let inner = node.level, inner.hooks.isEmpty, !mayStop(inner, part), isReachable(node, part, in: level) {
        node.isEntered = true
        postAll(inner, part, argument)
      }
    }
  }

  /// Unless somebody looks, a message for one who has died unnoticed takes a place in its buffer.
  private func postToDead(_ level: Level, _ part: Part) {
    for place in places[level.proxy] where !isAlive(place) && place.hasLine && !place.deliversPending {
      guard case .target(let target) = place.object, let row = rows[target][part.word],
        place.only?.contains(part.word) ?? true, !level.nodes.contains(where: { $0.place === place })
      else { continue }
      let dropped = part.travel.dropped
      post(Node(way: [place], object: place.object, row: row), part, 0, in: level)
      part.travel.dropped = dropped
    }
  }

  /// Whether a message may go to the node now; else why not is its outcome.
  private func isReachable(_ node: Node, _ part: Part, in level: Level) -> Bool {
    let isReachable = mayReach(node, part, in: level)
    if !isReachable { giveBack(node) }
    return isReachable
  }

  private func mayReach(_ node: Node, _ part: Part, in level: Level) -> Bool {
    current = part
    if isServedAlready(node, in: level) {
      node.outcome = .unlisted
      return false
    }
    guard let reason = obstacle(node, part) else { return true }
    // What has left is on its way.
    if let inner = node.level, hasLeft(inner) { return true }
    if reason == "dead" { part.travel.dead += 1 }
    // Who may still get it by another registration is not listed for this one.
    holdsListed = !isLeftOut(node, part) || !level.nodes.contains { $0.object == node.object && !isLeftOut($0, part) }
    skip(node, reason)
    holdsListed = true
    return false
  }

  /// Whether a target with several registrations for one context has the message through another.
  private func isServedAlready(_ node: Node, in level: Level) -> Bool {
    guard !program.proxies[level.proxy].allowsDuplicates else { return false }
    return level.nodes.contains { other in
      guard other !== node, other.object == node.object, other.place.context == node.place.context else { return false }
      switch other.outcome {
      case .queued, .delivered, .failed, .skipped("buffer full"): return true
      case .open, .skipped, .unlisted: return other.isPosted || other.isEntered
      }
    }
  }

  /// Whether a message of this selector is not for the node.
  private func isLeftOut(_ node: Node, _ part: Part) -> Bool {
    !(node.place.only?.contains(part.word) ?? true) || node.level == nil && node.row == nil
  }

  private let reasons = ["removed", "dead", "muted", "out of scope", "does not respond"]

  private func hasLeft(_ level: Level) -> Bool {
    level.nodes.contains { $0.isPosted || $0.level.map(hasLeft) ?? false }
  }

  private func isOutOfScope(_ node: Node, _ part: Part) -> Bool {
    node.way.contains { !($0.only?.contains(part.word) ?? true) }
  }

  /// The first that holds of the reasons for which a node gets nothing.
  private func obstacle(_ node: Node, _ part: Part) -> String? {
    var found = node.way.compactMap { place -> String? in
      let isKept = place !== node.place && place.isCancelled && place.context != nil && place.deliversPending
      return isKept ? (place.isMuted ? "muted" : nil) : obstacle(place)
    }
    if isOutOfScope(node, part) { found.append("out of scope") }
    if node.level == nil, node.row == nil { found.append("does not respond") }
    return found.min { rank($0) < rank($1) }
  }

  private func rank(_ reason: String) -> Int { reasons.firstIndex(of: reason) ?? reasons.count }

  /// Passes over a node and all below it, each for the first reason that holds.
  private func skip(_ node: Node, _ reason: String) {
    if let level = node.level, !level.nodes.isEmpty {
      node.outcome = .unlisted
      for inner in level.nodes { skip(inner, reason) }
    } else {
      // The message was not for it, and it has died.
      if let current, node.level == nil, isLeftOut(node, current), !isAlive(node.place) {
        current.travel.ended += ["nil dead", "nil removed"]
        return node.outcome = .unlisted
      }
      let own = current.flatMap { obstacle(node, $0) } ?? (node.level == nil ? nil : "does not respond")
      node.outcome = .skipped(own ?? reason)
      // A report holds whom it lists.
      if holdsListed, let current, current.mode == .report, case .target(let target) = node.object, isAlive(node.place)
      {
        current.travel.called.insert(target)
      }
    }
  }
  /// The message whose outcomes are written.
  private var current: Part?
  /// Whether those outcomes stand in its report from now on.
  private var holdsListed = true

  /// Asks the nodes of a level in their order, and gives what came of it in that order.
  private func serve(
    _ level: Level, _ part: Part, _ argument: Int, passed: @escaping () -> Void, _ done: @escaping (Served) -> Void
  ) {
    var served = [Served?](repeating: nil, count: level.nodes.count)
    var hasAskedAll = false
    var (hasFailed, isOver) = (false, false)
    let policy = part.mode.policy
    let waits = part.travel.waits
    var part = part
    let noteFailure = part.noteFailure
    part.noteFailure = {
      hasFailed = true
      noteFailure()
    }
    func endWhenDone() {
      guard hasAskedAll, !isOver, served.allSatisfy({ $0 != nil }) else { return }
      isOver = true
      var all = Served()
      for one in served.compactMap({ $0 }) {
        // Answers and errors are asked for until the result is known.
        if policy?.isKnown(by: all.answers.map(\.value)) ?? false {
          all.late += one.errors
        } else {
          all.answers += one.answers
          all.errors += one.errors
        }
        all.late += one.late
        all.hasFailed = all.hasFailed || one.hasFailed
      }
      done(all)
    }
    /// Answers are taken in the order of delivery, so that one that is not known yet keeps back those behind it.
    /// What is known, also where whoever waits has not had its turn since.
    var known: [Served?] { zip(served, level.nodes).map { $0 ?? $1.served } }
    func inOrder() -> [Int] { known.prefix { $0 != nil }.flatMap { $0?.answers.map(\.value) ?? [] } }
    let (isBehindOpen, isBehindKnown) = (part.isBehindOpen, part.isBehindKnown)
    func isKnown() -> Bool { isBehindKnown() || !isBehindOpen() && policy?.isKnown(by: inOrder()) ?? false }
    func settle(_ index: Int, _ outcome: Served) {
      served[index] = outcome
      if outcome.hasFailed { hasFailed = true }
      endWhenDone()
    }
    func expect(_ node: Node, _ index: Int) {
      if let outcome = node.served { return settle(index, outcome) }
      node.onServed = { settle(index, $0) }
    }
    /// Those whom a loop over neighbours passes by, and comes to when it ends.
    var late: [Node] = []
    func passLate() {
      current = part
      for node in late { _ = isReachable(node, part, in: level) }
      late = []
    }
    func ask(from start: Int) {
      for index in start..<level.nodes.count {
        let node = level.nodes[index]
        current = part
        if part.mode == .report, isLeftOut(node, part), isInLoop(index, of: level, part) {
          late.append(node)
          node.early = obstacle(node, part)
          settle(index, Served())
          continue
        }
        let isStopped = hasFailed && program.proxies[level.proxy].stopsAtFirst
        if !isLooped(node, of: level, part) || obstacle(node, part) != nil || isStopped { passLate() }
        if node.isPosted {
          if part.mode == .report, !waits { list(node) }
          waits ? expect(node, index) : settle(index, Served())
          continue
        }
        if level.hasPosted && node.place.context != nil && !isLeftOut(node, part) || !isReachable(node, part, in: level)
        {
          settle(index, Served())
          continue
        }
        let isEnough = isKnown()
        hasFailed = hasFailed || known.contains { $0?.hasFailed ?? false }
        if isEnough || hasFailed && program.proxies[level.proxy].stopsAtFirst {
          skip(node, "stopped")
          settle(index, Served())
          continue
        }
        if node.place.context != nil {
          post(node, part, argument, in: level)
          waits && node.isPosted ? expect(node, index) : settle(index, Served())
          continue
        }
        var (isLater, isHere) = (false, false)
        var inner = part
        inner.isBehindOpen = { isBehindOpen() || known.prefix(index).contains { $0 == nil } }
        inner.isBehindKnown = isKnown
        visit(
          node, inner, argument,
          passed: {
            isHere = true
            if isLater { ask(from: index + 1) }
          },
          { settle(index, $0) })
        isLater = true
        if !isHere { return }
      }
      passLate()
      hasAskedAll = true
      endWhenDone()
      passed()
    }
    ask(from: 0)
  }

  /// Whether a target is served in a loop with its neighbours of the same kind.
  private func isLooped(_ node: Node, of level: Level, _ part: Part) -> Bool {
    guard case .target(let target) = node.object, node.place.context == nil, !isLeftOut(node, part) else {
      return false
    }
    return program.targets[target].shape != .own && level.nodes.count { $0.object == node.object } == 1
  }

  /// Whether those are looped that come before and after somebody whom the message is not for.
  private func isInLoop(_ index: Int, of level: Level, _ part: Part) -> Bool {
    let (before, after) = (level.nodes[..<index].reversed(), level.nodes[(index + 1)...])
    return [before.first { !isLeftOut($0, part) }, after.first { !isLeftOut($0, part) }].allSatisfy { node in
      node.map { isLooped($0, of: level, part) } ?? false
    }
  }

  /// Whether hooks of a level may wait for what it does.
  private func isHeld(_ level: Level) -> Bool {
    level.hooks.contains { hook in
      switch hook.setup.kind {
      case .before, .refusing, .stream: false
      // It tells what came of the message.
      case .trace: true
      default: true
      }
    }
  }

  /// Whether who serves the targets of a level, or of one inside, may have to wait there.
  private func mayWait(_ level: Level, _ word: Word) -> Bool {
    isHeld(level)
      || level.nodes.contains { node in
        guard node.place.only?.contains(word) ?? true else { return false }
        if node.row != nil, limit(node.place) != nil { return true }
        return node.place.context == nil && node.level.map { mayWait($0, word) } ?? false
      }
  }

  /// Calls a target, or enters a nested proxy, here and now.
  private func visit(
    _ node: Node, _ part: Part, _ argument: Int, passed: @escaping () -> Void, _ done: @escaping (Served) -> Void
  ) {
    if let level = node.level {
      node.outcome = .unlisted
      node.isEntered = true
      if level.hasPosted, !level.nodes.isEmpty { return serve(level, part, argument, passed: passed, done) }
      return surrounded(level, part, argument, passed: passed) { served in
        var served = served
        // Nobody asks what the hooks of a nested proxy answer.
        if part.mode == .broadcast { served.answers = [] }
        node.hasFailed = !served.errors.isEmpty
        if served.hasFailed { part.noteFailure() }
        self.takeErrorsOfHooks(&served, part)
        if let fault = served.errors.first(where: { !$0.isListed }), part.mode == .report {
          node.outcome = .failed(fault.text)
          served.errors = [Fault(text: fault.text, way: fault.way, isListed: true)]
        } else if node.level?.nodes.isEmpty ?? true {
          node.outcome = .skipped("does not respond")
        }
        done(served)
      }
    }
    defer { passed() }
    guard case .target(let target) = node.object, let row = node.row else { return done(Served()) }
    let setup = program.targets[target]
    part.travel.called.insert(target)
    part.travel.hasRun = true
    note("t\(target)", "\(part.word) \(argument)" + (row > 0 ? " in row \(row)" : ""))
    if acted.insert(target).inserted {
      running[target] += 1
      setup.actions.forEach(act)
      running[target] -= 1
    }
    current = part
    if setup.throwsError {
      part.noteFailure()
      let fault = Fault(text: "t\(target) throws", way: node.way.map(\.proxy), isListed: part.mode == .report)
      // An error names its target as long as nobody was told it.
      if part.mode != .broadcast { part.travel.pinned.insert(target) }
      node.outcome = .failed(fault.text)
      if part.mode == .broadcast { report(fault, part) }
      return done(Served(errors: part.mode == .broadcast ? [] : [fault], hasFailed: true))
    }
    let answer: Int? =
      switch part.word {
      case .tell: nil
      case .ask: argument * 10 + target + 1 + row * 100
      case .vote: setup.vote ? 1 : 0
      }
    node.outcome = .delivered(answer, wasQueued: part.isQueued)
    done(Served(answers: part.mode == .broadcast ? [] : answer.map { [Answer(value: $0, node: node)] } ?? []))
  }

  // MARK: - Contexts

  private func post(_ node: Node, _ part: Part, _ argument: Int, in level: Level) {
    let place = node.place
    let parcel = Parcel(node, part.travel, argument)
    // What is delivered all the same keeps its target from now on.
    if parcel.deliversPending, case .target(let target) = node.object { running[target] += 1 }
    defer { if parcel.deliversPending, case .target(let target) = node.object { running[target] -= 1 } }
    switch place.buffer {
    case .unbounded: break
    case .keepNewest(let count): if place.waiting.count >= count { giveUp(place.waiting[0], for: part.travel) }
    case .keepOldest(let count): if place.waiting.count >= count { return giveUp(parcel, for: part.travel) }
    case .latestPerSelector:
      if let old = place.waiting.first(where: { $0.travel.send.word == part.word }) { giveUp(old, for: part.travel) }
    case .suspendSender(let count):
      if node.holdsRoom {
        node.holdsRoom = false
        place.reserved -= 1
      } else if !node.sharesRoom, place.waiting.count + place.reserved >= count {
        return giveUp(parcel, for: part.travel)
      }
    }
    node.isPosted = true
    // What became of it at a proxy its turn says, where the sender waits for that.
    holdsListed = !part.travel.waits
    setQueued(node, part)
    holdsListed = true
    if place.hasLine { place.waiting.append(parcel) }
    node.home = part.home
    contexts[place.context ?? 0].append(.parcel(parcel))
  }

  /// What waits is queued; with a nested proxy all that it would reach.
  private func setQueued(_ node: Node, _ part: Part) {
    if let reason = obstacle(node, part) {
      skip(node, reason)
    } else if let level = node.level {
      node.outcome = level.nodes.isEmpty ? .skipped("does not respond") : .unlisted
      for (index, inner) in level.nodes.enumerated() {
        setQueued(inner, part)
        let isRepeat =
          !program.proxies[level.proxy].allowsDuplicates
          && level.nodes[..<index].contains {
            $0.object == inner.object && $0.place.context == inner.place.context && obstacle($0, part) == nil
          }
        if isRepeat { unlist(inner) }
      }
    } else {
      node.outcome = .queued
    }
  }

  /// A report keeps the targets that it lists as queued; one that has died meanwhile will not run.
  private func list(_ node: Node) {
    node.level?.nodes.forEach(list)
    guard node.outcome == .queued, case .target(let target) = node.object else { return }
    if isAlive(node.place) { current?.travel.called.insert(target) } else { node.outcome = .skipped("dead") }
  }

  private func unlist(_ node: Node) {
    node.outcome = .unlisted
    node.level?.nodes.forEach(unlist)
  }

  private func giveUp(_ parcel: Parcel, for travel: Travel) {
    travel.dropped += 1
    takeBack(parcel)
  }

  private func takeBack(_ parcel: Parcel) {
    let hadLeft = parcel.node.place.waiting.contains { $0 === parcel }
    parcel.node.place.waiting.removeAll { $0 === parcel }
    contexts[parcel.node.place.context ?? 0].removeAll { $0.parcel === parcel }
    // What was queued was, for a sender that does not wait.
    if !hadLeft || parcel.travel.waits { end(parcel, "buffer full") }
  }

  /// A message that waited and does not run.
  private func end(_ parcel: Parcel, _ reason: String) {
    if parcel.travel.waits ? !parcel.isSettled : !parcel.travel.isOver {
      current = Part(parcel.travel, parcel.travel.mode)
      skip(parcel.node, reason)
    }
    settle(parcel, Served())
  }

  private func settle(_ parcel: Parcel, _ served: Served) {
    let node = parcel.node
    guard parcel.travel.waits, !parcel.isSettled else { return }
    parcel.isSettled = true
    node.served = served
    goOn(node.home) {
      let then = node.onServed
      node.onServed = nil
      then?(served)
    }
  }

  private func run(_ context: Int) {
    while !contexts[context].isEmpty {
      switch contexts[context].removeFirst() {
      case .job(let body): body()
      case .parcel(let parcel): run(parcel, context)
      }
    }
  }

  /// Why a waiting message is not for its target any more, or `nil`.
  private func obstacle(_ parcel: Parcel) -> String? {
    parcel.node.way.compactMap { place -> String? in
      let isKept = place === parcel.node.place ? parcel.deliversPending : place.context != nil && place.deliversPending
      return place.isCancelled && isKept ? (place.isMuted ? "muted" : nil) : obstacle(place)
    }.min { rank($0) < rank($1) }
  }

  private func run(_ parcel: Parcel, _ context: Int) {
    let node = parcel.node
    let place = node.place
    guard !place.isBusy else { return place.parked.append(parcel) }
    // What is delivered all the same keeps its target.
    if parcel.deliversPending, case .target(let target) = node.object { running[target] += 1 }
    defer { if parcel.deliversPending, case .target(let target) = node.object { running[target] -= 1 } }
    place.waiting.removeAll { $0 === parcel }
    roomChanged()
    if let obstacle = obstacle(parcel) {
      // Its context has found out.
      if obstacle == "dead", !isAlive(place) {
        places[place.proxy].removeAll { $0 === place }
        ended[place.proxy].append(place)
      }
      return end(parcel, obstacle)
    }
    var part = Part(parcel.travel, parcel.travel.waits ? parcel.travel.mode : .broadcast)
    part.isQueued = true
    current = part
    node.level.map(reopen)
    guard let level = node.level else {
      if case .target(let target) = node.object { running[target] += 1 }
      visit(node, part, parcel.argument, passed: {}) { self.settle(parcel, $0) }
      if case .target(let target) = node.object { running[target] -= 1 }
      return
    }
    guard part.travel.send.verb.waits, mayWait(level, part.word) else {
      part.home = .inPlace
      return visit(node, part, parcel.argument, passed: {}) { self.settle(parcel, $0) }
    }
    // Its hooks wait here, and its next message waits for their end.
    place.isBusy = true
    part.home = .context(context)
    contexts[context].append(
      .job { [part] in
        self.whenThereIsRoom(in: level, part.travel, part.home) {
          self.visit(node, part, parcel.argument, passed: { self.giveBackAll(level) }) { served in
            self.settle(parcel, served)
            self.contexts[context].append(
              .job {
                place.isBusy = false
                while !place.isBusy, !place.parked.isEmpty { self.run(place.parked.removeFirst(), context) }
              })
          }
        }
      })
  }

  // MARK: - Results

  private func leaves(_ level: Level) -> [Node] {
    level.nodes.flatMap { leaves(of: $0) } + [level.own].compactMap(\.self)
  }

  private func leaves(of node: Node) -> [Node] {
    (node.outcome == .unlisted || node.outcome == .open ? [] : [node]) + (node.level.map { leaves($0) } ?? [])
  }

  /// Lists each target of a proxy once, whatever it is registered for. Of several that are passed by, any may be the one.
  private func unlistRepeats(_ level: Level, _ part: Part) {
    for (index, node) in level.nodes.enumerated() {
      let same = level.nodes.filter { $0.object == node.object && $0 !== node }
      let others = same.filter { !isLeftOut($0, part) }
      if isLeftOut(node, part) {
        if !others.isEmpty || level.nodes[..<index].contains(where: { $0.object == node.object }) { unlist(node) }
      } else if !others.isEmpty || !same.isEmpty && ended[level.proxy].contains(where: { $0.object == node.object }),
        !program.proxies[level.proxy].allowsDuplicates, isPassedBy(node)
      {
        // Who is there all the same was not removed.
        let isThere = others.contains { !$0.place.isCancelled && $0.place.context == node.place.context }
        part.travel.ended += leaves(of: node).flatMap { leaf in
          (reasons.filter { !isThere || node.level != nil || $0 != "removed" } + ["withheld by a hook", "stopped"]).map
          { "\(leaf.object) \($0)" } + ["nil dead"]
        }
        unlist(node)
      }
      if let inner = node.level { unlistRepeats(inner, part) }
    }
  }

  private func isPassedBy(_ node: Node) -> Bool {
    leaves(of: node).allSatisfy { leaf in
      if case .skipped(let reason) = leaf.outcome { reason != "buffer full" } else { false }
    }
  }

  /// Nested proxies that have become empty: they may be listed beside those that they had.
  private func vanished(_ level: Level) -> [String] {
    level.nodes.flatMap { node -> [String] in
      guard let inner = node.level else { return [] }
      return vanished(inner)
        + (inner.nodes.allSatisfy { $0.place.isCancelled || !isAlive($0.place) }
          ? ["\(node.object) does not respond"] : [])
    }
  }

  private func finish(_ travel: Travel, _ level: Level, _ served: Served) {
    travel.isOver = true
    giveBackAll(level)
    let part = Part(travel, travel.mode)
    var served = served
    takeErrorsOfHooks(&served, part)
    for fault in served.late { report(fault, part) }
    for answer in served.answers {
      if let node = answer.node, case .delivered(_, let wasQueued) = node.outcome {
        node.outcome = .delivered(answer.value, wasQueued: wasQueued)
      }
    }
    var (answers, queued, failures, skipped): ([String], [String], [String], [String]) = ([], [], [], [])
    var either: [String: Set<String>] = [:]
    // Those that hooks gave.
    var owns = 0
    unlistRepeats(level, part)
    for leaf in leaves(level) {
      switch leaf.outcome {
      case .delivered(let value, let wasQueued):
        if leaf.way.isEmpty { owns += 1 }
        answers.append("\(leaf.object) \(value.map { "\($0)" } ?? "nil")\(wasQueued ? " queued" : "")")
      case .queued: queued.append("\(leaf.object)")
      case .failed(let text): failures.append("\(leaf.object): \(text)")
      case .skipped(let reason) where leaf.level?.hadDead ?? false: travel.ended.append("\(leaf.object) \(reason)")
      // What was not for a target says nothing of one that is dead.
      case .skipped("dead") where leaf.level == nil && leaf.row == nil || isOutOfScope(leaf, part):
        travel.ended.append("nil dead")
      case .skipped(let reason):
        skipped.append("\(reason == "dead" ? "nil" : "\(leaf.object)") \(reason)")
        if reason == "removed", !isAlive(leaf.place) { either["\(leaf.object) removed"] = ["nil removed"] }
        // Who is no target of the message is looked at in its turn, or when the targets around have been served.
        if isOutOfScope(leaf, part) || leaf.level == nil && leaf.row == nil {
          for other in [leaf.early, obstacle(leaf, part)].compactMap(\.self) {
            either[skipped[skipped.count - 1], default: []].insert(
              "\(other == "dead" ? "nil" : "\(leaf.object)") \(other)")
          }
        }
      case .open, .unlisted: break
      }
    }
    // An error of hooks counts as one failure of their proxy.
    let failed = failures.count + travel.failuresOfHooks
    // A message for a full buffer was for somebody.
    let isNobody = failed == 0 && travel.dropped == 0 && answers.count == owns && queued.isEmpty
    let name = "send \(travel.number)"
    switch travel.mode {
    case .broadcast:
      func summary(queued: Int, dropped: Int) -> String {
        "delivered \(answers.count), queued \(queued), failed \(failed), dropped \(dropped), "
          + "nobody \(answers.count + queued + failed + dropped == 0)"
      }
      // Unless silence matters, a target on a queue may count that has died unnoticed.
      let dead = isNobody && program.proxies[travel.root].silenceIsThrown ? 0 : travel.dead
      let also = (0...dead).flatMap { queued in (0...dead).map { (queued, $0) } }
      note(
        name, summary(queued: queued.count, dropped: travel.dropped),
        also: also.map { summary(queued: queued.count + $0, dropped: travel.dropped + $1) })
    case .report:
      if let fault = served.errors.first(where: { !$0.isListed }) {
        note(name, "throws \(fault.text)")
      } else {
        note(
          name,
          "answers \(answers), queued \(queued), failures \(failures), dropped \(travel.dropped), nobody \(isNobody)",
          skipped: skipped, maySkip: travel.ended + vanished(level), either: either)
      }
    case .collect(let policy):
      let isSettled = policy == .firstSuccess && !served.answers.isEmpty
      for fault in served.errors.dropFirst(isSettled ? 0 : 1) { report(fault, part) }
      if let fault = served.errors.first, !isSettled {
        note(name, "throws \(fault.text)")
      } else if answers.isEmpty, failures.isEmpty, served.answers.isEmpty, !travel.hasRun,
        !travel.waits && !queued.isEmpty || skipped.contains(where: { $0.hasSuffix("buffer full") })
      {
        // Those who were to answer may have been removed since.
        let isOver = leaves(level).allSatisfy { $0.outcome != .queued || obstacle($0, part) != nil }
        note(
          name, "throws answers not waited for",
          also: isOver && !travel.waits ? ["gives \(policy.result(of: []))"] : [])
      } else {
        let isAsked = travel.waits || travel.dead == 0 || !(answers + failures).isEmpty
        note(
          name, "gives \(policy.result(of: served.answers.map(\.value)))",
          also: isAsked ? [] : ["throws answers not waited for"])
      }
    }
  }
}
