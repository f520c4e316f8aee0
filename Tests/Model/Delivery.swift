// Delivery.swift: how the reference delivers a message: hooks, targets, contexts.

/// The circumstances of a message in one proxy.
struct Part {
  let travel: Travel
  /// Whether a proxy around stops at the first error, so that queued targets are not reached before the others.
  var isInOrder = false
  /// Whether a hook stands around that cannot wait.
  var isBehindPlainHook = false
  /// The registrations before this proxy, whose answers may decide the result.
  var before: [Node] = []
  init(_ travel: Travel) { self.travel = travel }
  var mode: Mode { travel.mode }
}

/// Whether answers decide the result, counted in delivery order up to the first that is not known yet.
enum Standing { case undecided, decided, open }

extension Reference {
  func send(_ send: Send) async {
    let (travel, number) = (Travel(send, home: .sender), sends)
    sends += 1
    guard send.verb.waits else { return await deliver(travel, number) }
    Task(executorPreference: executor) { [self] in await deliver(travel, number) }
    await executor.suspendUntilIdle()
  }

  private func deliver(_ travel: Travel, _ number: Int) async {
    let level = level(travel.send.proxy, travel, path: [], proxies: [])
    open.append(travel)
    let part = Part(travel)
    let reply = await surround(level, part, travel.send.argument)
    let served = await settle(reply, level, part)
    finish(travel, level, served, as: "send \(number)")
    open.removeAll { $0 === travel }
  }

  /// What a message finds in a proxy.
  private func level(_ proxy: Int, _ travel: Travel, path: [Registered], proxies: [Int]) -> Level {
    let proxies = proxies + [proxy]
    let nodes = registrations[proxy].compactMap { registered -> Node? in
      let path = path + [registered]
      func node(_ row: Int?, _ level: Level? = nil) -> Node {
        let isInScope = registered.only?.contains(travel.word) ?? true
        return Node(
          path: path, proxies: proxies, object: registered.object, isInScope: isInScope, row: row, level: level)
      }
      switch registered.object {
      case .target(let target):
        let isAlive = isAlive(registered)
        if !isAlive { travel.dead += 1 }
        let row = rows[target][travel.word]
        // The message keeps strong targets until it ends.
        if registered.isStrong, row == nil ? travel.mode == .report : registered.context == nil {
          travel.holds.insert(target)
        }
        return isAlive ? node(row) : nil
      case .proxy(let inner):
        guard registered.context == nil else { return node(mayRespond(inner, travel.word) ? 0 : nil) }
        return node(nil, level(inner, travel, path: path, proxies: proxies))
      }
    }
    let own = hooks[proxy].filter {
      !$0.isCancelled && ($0.setup.word == nil || $0.setup.word == travel.word || $0.setup.kind == .trace)
    }
    // Streams receive what the targets receive: they are inside all hooks.
    let streams = own.filter { $0.setup.kind == .stream }
    let others = own.reversed().filter { $0.setup.kind != .stream }
    let found = Level(proxy, hooks: others + streams, nodes: nodes, path: path, proxies: proxies)
    found.hadDead = nodes.count < registrations[proxy].count
    return found
  }

  // MARK: - Hooks

  /// The hooks of a proxy, the outermost first, and then its targets.
  private func surround(_ level: Level, _ part: Part, _ argument: Int, from index: Int = 0) async -> Reply {
    guard index < level.hooks.count else { return await reach(level, part, argument) }
    let hook = level.hooks[index]
    let setup = hook.setup
    let word = part.travel.word
    let name = "h\(hook.number)"
    var inner = part
    if case .around = setup.kind, setup.form == .plain { inner.isBehindPlainHook = true }
    func within(_ argument: Int) async -> Reply {
      await surround(level, inner, argument, from: index + 1)
    }
    func settledWithin(_ argument: Int) async -> Served {
      await settle(await within(argument), level, inner)
    }
    // A waiting sender waits at a hook that sees what came of the message, also where the hook is canceled meanwhile.
    func passing() async -> Reply {
      switch setup.kind {
      case .before, .refusing, .stream: await within(argument)
      default: part.travel.waits ? .now(await settledWithin(argument)) : await within(argument)
      }
    }
    guard !hook.isCancelled else { return await passing() }
    switch setup.kind {
    case .trace: return await passing()
    case .stream:
      feed(hook, part, argument)
      return await within(argument)
    case .before, .refusing:
      note(name, "before \(word) \(argument)")
      await begin(hook)
      if setup.kind == .refusing { return refuse(level, part, "\(name) throws") }
      return await within(argument)
    case .after, .failingAfter:
      let served = await settledWithin(argument)
      guard !hook.isCancelled, error(of: served, part) == nil else { return .now(served) }
      note(name, "after \(word) \(argument): \(served.answers.map(\.value))")
      await begin(hook)
      guard setup.kind == .failingAfter else { return .now(served) }
      for fault in served.errors + served.late where !fault.isListed { report(fault, part) }
      return fail(level, "\(name) throws")
    case .around(let around):
      // A sender that waits calls the waiting form, unless no target can make it wait.
      let isPlain = !part.travel.send.verb.waits || part.isBehindPlainHook
      if isPlain ? setup.form == .waiting : setup.form == .plain && hasQueued(level) {
        return refuse(level, part, "isolation mismatch")
      }
      note(name, "around \(word) \(argument)")
      await begin(hook)
      var served: Served
      switch around {
      case .skip, .own:
        withhold(level, part)
        guard around == .own, word == .ask else { return .now(Served()) }
        let own = Node(path: [], proxies: level.proxies, object: .proxy(level.proxy), row: nil)
        own.outcome = .delivered(7, wasQueued: false)
        level.own = part.mode == .report ? own : nil
        return .now(Served(answers: [Answer(value: 7, node: level.own)]))
      case .twice:
        let (failures, holds) = (part.travel.failuresOfHooks, part.travel.holds)
        let first = await settledWithin(argument)
        guard error(of: first, part) == nil else { return .now(first) }
        // The second message counts. Errors of the first that no hook was thrown are reported.
        (part.travel.failuresOfHooks, part.travel.holds) = (failures, holds)
        for fault in first.errors + first.late { report(fault, part) }
        served = await settledWithin(argument)
      case .argument: served = await settledWithin(argument + 100)
      case .pass, .change, .swallow: served = await settledWithin(argument)
      }
      if error(of: served, part) != nil {
        guard around == .swallow else { return .now(served) }
        for fault in served.errors.dropFirst() { report(fault, part) }
        (served.answers, served.errors, served.hasFailed) = ([], [], false)
        forgetErrors(level, part)
      }
      note(name, "leaves \(word) \(argument): \(served.answers.map(\.value))")
      if around == .change, word == .ask {
        for index in served.answers.indices { served.answers[index].value += 1000 }
      }
      return .now(served)
    }
  }

  /// The error that a hook is thrown.
  private func error(of served: Served, _ part: Part) -> Fault? {
    part.mode.policy == .firstSuccess && !served.answers.isEmpty ? nil : served.errors.first
  }

  private func begin(_ hook: InstalledHook) async {
    guard !hook.hasRun else { return }
    hook.hasRun = true
    for action in hook.setup.actions { await act(action) }
  }

  private func hasQueued(_ level: Level) -> Bool {
    level.nodes.contains { $0.registered.context != nil || $0.level.map(hasQueued) ?? false }
  }

  private func refuse(_ level: Level, _ part: Part, _ text: String) -> Reply {
    withhold(level, part)
    return fail(level, text)
  }

  private func fail(_ level: Level, _ text: String) -> Reply {
    .now(Served(errors: [Fault(text: text, proxies: level.proxies)], hasFailed: true))
  }

  private func withhold(_ level: Level, _ part: Part) {
    (level.own, level.isListed) = (nil, true)
    for node in level.nodes where !node.isPosted { skip(node, "withheld by a hook", part) }
  }

  /// Targets whose errors a hook handled ran, and have no answer.
  private func forgetErrors(_ level: Level, _ part: Part) {
    for node in leaves(level) {
      switch node.outcome {
      case .delivered(_, let wasQueued): node.outcome = .delivered(nil, wasQueued: wasQueued)
      case .failed where part.mode == .broadcast: break  // It was reported, and no hook was thrown it.
      case .failed:
        node.outcome = node.level == nil ? .delivered(nil, wasQueued: node.registered.context != nil) : .unlisted
      default: break
      }
    }
  }

  /// Calls the innermost handler of errors.
  func report(_ fault: Fault, _ part: Part) {
    let handler = fault.proxies.last { program.proxies[$0].hasErrorHandler }
    note(handler.map { "onError p\($0)" } ?? "nobody", "\(part.travel.word): \(fault.text)")
  }

  // MARK: - The targets of a proxy

  private func reach(_ level: Level, _ part: Part, _ argument: Int) async -> Reply {
    reopen(level)
    if part.mode == .broadcast { await postToDead(level, part) }
    if !mayStop(level, part) { await postAll(level, part, argument) }
    return await call(level, part, argument)
  }

  private func reopen(_ level: Level) {
    (level.isListed, level.hasPosted, level.own) = (false, false, nil)
    for node in level.nodes {
      (node.outcome, node.isPosted, node.hasThrown) = (.open, false, false)
      (node.reply, node.served) = (nil, nil)
      if let inner = node.level { reopen(inner) }
    }
  }

  private func mayStop(_ level: Level, _ part: Part) -> Bool {
    part.isInOrder || part.mode.policy?.mayStopEarly ?? false || program.proxies[level.proxy].stopsAtFirst
  }

  /// The streams of a proxy whose queued targets have the message already. It has no other hooks.
  private func feedStreams(_ level: Level, _ part: Part, _ argument: Int) {
    for hook in level.hooks where !hook.isCancelled { feed(hook, part, argument) }
  }

  private func feed(_ hook: InstalledHook, _ part: Part, _ argument: Int) {
    note("stream h\(hook.number)", "takes \(part.travel.word) \(argument)")
  }

  /// Queued targets get the message before others run, also those of nested proxies that have no hooks but streams.
  private func postAll(_ level: Level, _ part: Part, _ argument: Int) async {
    level.hasPosted = true
    for node in level.nodes where !isUnmatched(node) {
      if node.registered.context != nil {
        if isReachable(node, part) { await post(node, part, argument) }
      } else if let inner = node.level, inner.hooks.allSatisfy({ $0.setup.kind == .stream }), !mayStop(inner, part),
        isReachable(node, part)
      {
        await postAll(inner, part, argument)
      }
    }
  }

  /// A broadcast does not look whether a queued target has died: its message takes a place in the buffer.
  private func postToDead(_ level: Level, _ part: Part) async {
    for registered in registrations[level.proxy] where !isAlive(registered) && registered.hasBuffer {
      guard case .target(let target) = registered.object, let row = rows[target][part.travel.word],
        registered.only?.contains(part.travel.word) ?? true, !registered.deliversPending, !registered.isFull,
        !level.nodes.contains(where: { $0.registered === registered })
      else { continue }
      let dropped = part.travel.dropped
      await post(Node(path: [registered], proxies: level.proxies, object: registered.object, row: row), part, 0)
      part.travel.dropped = dropped
    }
  }

  private func call(_ level: Level, _ part: Part, _ argument: Int) async -> Reply {
    level.isListed = true
    let stops = program.proxies[level.proxy].stopsAtFirst
    for (index, node) in level.nodes.enumerated() where !isUnmatched(node) {
      if node.isPosted {
        // A report lists no dead target, and keeps those that it lists.
        if !part.travel.waits, part.mode == .report, !isAlive(node.registered) { node.outcome = .skipped("dead") }
        if !part.travel.waits { hold(node, part) }
        continue
      }
      if level.hasPosted && node.registered.context != nil { continue }
      guard isReachable(node, part) else { continue }
      var inner = part
      inner.isInOrder = part.isInOrder || stops
      inner.before += level.nodes[..<index]
      if standing(inner.before, part) == .decided || stops && hasFailed(level) {
        skip(node, "stopped", part)
      } else if node.registered.context != nil {
        await post(node, part, argument, unlessFailed: stops ? level : nil)
      } else if let below = node.level {
        node.outcome = .unlisted
        if below.hasPosted { feedStreams(below, part, argument) }
        let reply = await below.hasPosted ? call(below, inner, argument) : surround(below, inner, argument)
        node.reply = reply
        if case .now(let served) = reply { close(node, served, part) }
      } else {
        await run(node, part, argument, wasQueued: false)
      }
    }
    return part.travel.waits ? .ofTargets : .now(await gather(level, part))
  }

  private func standing(_ nodes: [Node], _ part: Part) -> Standing {
    guard let policy = part.mode.policy else { return .undecided }
    for node in nodes {
      if let served = node.served {
        if policy.isKnown(by: served.answers.map(\.value)) { return .decided }
      } else if let level = node.level {
        let standing = standing(level.nodes, part)
        if standing != .undecided { return standing }
      } else if node.isPosted, part.travel.waits {
        return .open
      }
    }
    return .undecided
  }

  private func hasFailed(_ level: Level) -> Bool {
    level.nodes.contains { $0.served?.hasFailed ?? ($0.level.map(hasFailed) ?? false) }
  }

  /// The outcome of a proxy, as soon as all of its targets have theirs.
  func settle(_ reply: Reply, _ level: Level, _ part: Part) async -> Served {
    switch reply {
    case .now(let served): served
    case .ofTargets: await gather(level, part)
    }
  }

  private func gather(_ level: Level, _ part: Part, wasEntered: Bool = true) async -> Served {
    var all = Served()
    for node in level.nodes {
      if node.served == nil, let inner = node.level {
        if let reply = node.reply {
          close(node, await settle(reply, inner, part), part)
        } else if part.travel.waits, inner.hasPosted {
          // The message did not enter the proxy, but it was sent to queued targets there before.
          node.served = await gather(inner, part, wasEntered: false)
        }
      }
      while part.travel.waits, node.isPosted, node.served == nil {
        await withUnsafeContinuation { node.waiter = (part.travel.home, $0) }
      }
      let one = node.served ?? Served()
      // Answers and errors are wanted until the result is known.
      if part.mode.policy?.isKnown(by: all.answers.map(\.value)) ?? false {
        all.late += one.errors
      } else {
        all.answers += one.answers
        all.errors += one.errors
      }
      all.late += one.late
      all.hasFailed = all.hasFailed || one.hasFailed
    }
    guard wasEntered, program.proxies[level.proxy].silenceIsThrown, isSilent(level), all.answers.isEmpty,
      !level.path.contains(where: \.isCancelled)
    else { return all }
    let fault = Fault(text: "nobody responds", proxies: level.proxies)
    guard part.mode == .broadcast else { return Served(errors: [fault], hasFailed: true) }
    report(fault, part)
    return all
  }

  private func isSilent(_ level: Level) -> Bool {
    level.nodes.allSatisfy { node in
      if node.hasThrown { return false }
      if let inner = node.level, !inner.nodes.isEmpty { return isSilent(inner) }
      return switch node.outcome {
      case .open, .unlisted: true
      case .skipped(let reason): reason != "buffer full"
      case .queued, .delivered, .failed: false
      }
    }
  }

  /// Ends the call of a nested proxy.
  private func close(_ node: Node, _ served: Served, _ part: Part) {
    var served = served
    if part.mode == .broadcast { served.answers = [] }
    node.hasThrown = !served.errors.isEmpty
    reportErrorsOfHooks(&served, part)
    if let fault = served.errors.first(where: { !$0.isListed }), part.mode == .report {
      node.outcome = .failed(fault.text)
      served.errors = [Fault(text: fault.text, proxies: fault.proxies, isListed: true)]
    } else if node.level?.nodes.isEmpty ?? true {
      node.outcome = .skipped("does not respond")
    }
    node.served = served
  }

  /// A broadcast throws nothing: errors of its hooks are reported.
  func reportErrorsOfHooks(_ served: inout Served, _ part: Part) {
    guard part.mode == .broadcast else { return }
    for fault in served.errors {
      report(fault, part)
      part.travel.failuresOfHooks += 1
    }
    served.errors = []
  }

  // MARK: - Who receives

  /// Whether the message was never for a registration.
  func isUnmatched(_ node: Node) -> Bool {
    !node.isInScope || node.object.isTarget && node.row == nil
  }

  private func isReachable(_ node: Node, _ part: Part) -> Bool {
    guard let reason = obstacle(node) else { return true }
    if reason == "dead" { part.travel.dead += 1 }
    skip(node, reason, part)
    return false
  }

  /// The first reason for which a registration does not receive the message.
  func obstacle(_ node: Node) -> String? {
    if node.path.contains(where: \.isCancelled) { return "removed" }
    if !node.path.allSatisfy(isAlive) { return "dead" }
    if node.path.contains(where: \.isMuted) { return "muted" }
    if !node.isInScope { return "out of scope" }
    return node.level == nil && node.row == nil ? "does not respond" : nil
  }

  /// Passes over a registration and all behind it, each for the first reason that holds.
  private func skip(_ node: Node, _ reason: String, _ part: Part) {
    if isUnmatched(node) { return }
    if let level = node.level, !level.nodes.isEmpty {
      node.outcome = .unlisted
      level.isListed = true
      for inner in level.nodes where !inner.isPosted { skip(inner, reason, part) }
    } else {
      let own = obstacle(node) ?? (node.level == nil ? reason : "does not respond")
      node.outcome = .skipped(own)
      if own != "dead" { hold(node, part) }
    }
  }

  /// A report keeps the targets that it lists.
  private func hold(_ node: Node, _ part: Part) {
    if part.mode == .report, case .target(let target) = node.object { part.travel.holds.insert(target) }
  }

  /// Runs the method of a target.
  private func run(_ node: Node, _ part: Part, _ argument: Int, wasQueued: Bool) async {
    guard case .target(let target) = node.object, let row = node.row else { return }
    let (setup, travel) = (program.targets[target], part.travel)
    hold(node, part)
    travel.hasRun = true
    note("t\(target)", "\(travel.word) \(argument)" + (row > 0 ? " in row \(row)" : ""))
    if acted.insert(target).inserted {
      running[target] += 1
      for action in setup.actions { await act(action) }
      running[target] -= 1
    }
    // A posted message counts as queued for a sender that does not wait.
    let isLater = wasQueued && !travel.waits
    let isBroadcast = part.mode == .broadcast || isLater
    if setup.throwsError {
      let fault = Fault(text: "t\(target) throws", proxies: node.proxies, isListed: part.mode == .report)
      // An error names its target until it has been reported.
      if !isBroadcast { travel.holds.insert(target) }
      if !isLater { node.outcome = .failed(fault.text) }
      if isBroadcast { report(fault, part) }
      node.served = Served(errors: isBroadcast ? [] : [fault], hasFailed: !isLater)
    } else {
      let answer: Int? =
        switch travel.word {
        case .tell: nil
        case .ask: argument * 10 + target + 1 + row * 100
        case .vote: setup.vote ? 1 : 0
        }
      if !isLater { node.outcome = .delivered(answer, wasQueued: wasQueued) }
      node.served = Served(answers: isBroadcast ? [] : answer.map { [Answer(value: $0, node: node)] } ?? [])
    }
  }

  // MARK: - Contexts

  /// Posts the message, unless a target of `level` is known to have failed after a wait for room.
  private func post(_ node: Node, _ part: Part, _ argument: Int, unlessFailed level: Level? = nil) async {
    let registered = node.registered
    let parcel = Parcel(node, part.travel, argument)
    switch registered.buffer {
    case .unbounded: break
    case .keepNewest(let count):
      if registered.waiting.count >= count { discard(registered.waiting[0], for: part.travel) }
    case .keepOldest(let count):
      if registered.waiting.count >= count { return discard(parcel, for: part.travel) }
    case .latestPerSelector:
      if let old = registered.waiting.first(where: { $0.travel.word == part.travel.word }) {
        discard(old, for: part.travel)
      }
    case .suspendSender where registered.isFull:
      guard part.travel.send.verb.waits else { return discard(parcel, for: part.travel) }
      await withUnsafeContinuation {
        waitingForRoom.append(RoomWaiter(node: node, home: part.travel.home, continuation: $0))
      }
      if node.hasPlace { registered.reserved -= 1 }
      node.hasPlace = false
      guard isReachable(node, part) else { return roomChanged() }
      if let level, hasFailed(level) {
        skip(node, "stopped", part)
        return roomChanged()
      }
    case .suspendSender: break
    }
    node.isPosted = true
    node.outcome = .queued
    if registered.hasBuffer { registered.waiting.append(parcel) }
    contexts[registered.context ?? 0].append(.parcel(parcel))
  }

  /// Gives free places to those who wait longest, and lets those go whose target has been removed or muted.
  func roomChanged() {
    waitingForRoom.removeAll { waiter in
      let isEnded = waiter.node.path.contains { $0.isCancelled || $0.isMuted }
      let registered = waiter.node.registered
      guard isEnded || !registered.isFull else { return false }
      if !isEnded {
        registered.reserved += 1
        waiter.node.hasPlace = true
      }
      resume(waiter.continuation, at: waiter.home)
      return true
    }
  }

  private func resume(_ continuation: UnsafeContinuation<Void, Never>, at home: Home) {
    switch home {
    case .sender: ready.append(continuation)
    case .context(let context): contexts[context].append(.sender(continuation))
    }
  }

  private func discard(_ parcel: Parcel, for travel: Travel) {
    travel.dropped += 1
    discard(parcel)
  }

  func discard(_ parcel: Parcel) { drop(parcel, "buffer full") }

  /// The messages that wait for a registration, or behind it.
  func parcels(behind registered: Registered) -> [Parcel] {
    let waiting = contexts.joined().compactMap { if case .parcel(let parcel) = $0 { parcel } else { nil } }
    let parked = registrations.joined().flatMap(\.parked) + registered.parked
    return (waiting + parked).filter { $0.node.path.contains { $0 === registered } }
  }

  /// Takes back a message that does not run.
  func drop(_ parcel: Parcel, _ reason: String) {
    let registered = parcel.node.registered
    registered.waiting.removeAll { $0 === parcel }
    registered.parked.removeAll { $0 === parcel }
    contexts[registered.context ?? 0].removeAll { if case .parcel(let other) = $0 { other === parcel } else { false } }
    // A posted message counts as queued for a sender that does not wait.
    if parcel.travel.waits || !parcel.node.isPosted {
      skip(parcel.node, reason, Part(parcel.travel))
    }
    settle(parcel, Served())
  }

  private func settle(_ parcel: Parcel, _ served: Served) {
    let node = parcel.node
    guard parcel.travel.waits, node.isPosted else { return }
    node.served = served
    if let waiter = node.waiter { resume(waiter.continuation, at: waiter.home) }
    node.waiter = nil
  }

  func run(_ context: Int) async {
    while !contexts[context].isEmpty {
      switch contexts[context].removeFirst() {
      case .parcel(let parcel): await run(parcel, context)
      case .sender(let continuation):
        continuation.resume()
        await executor.suspendUntilIdle()
      }
    }
  }

  private func run(_ parcel: Parcel, _ context: Int) async {
    let node = parcel.node
    let registered = node.registered
    guard !registered.isBusy else { return registered.parked.append(parcel) }
    let part = Part(parcel.travel)
    // What is delivered after a removal keeps its target until then.
    if case .target(let target) = node.object, parcel.deliversPending { running[target] += 1 }
    defer { if case .target(let target) = node.object, parcel.deliversPending { running[target] -= 1 } }
    registered.waiting.removeAll { $0 === parcel }
    roomChanged()
    let isDelivered = registered.isCancelled && parcel.deliversPending && !registered.isMuted
    if let reason = obstacle(node),
      !(isDelivered && !node.path.dropLast().contains { $0.isCancelled || $0.isMuted })
    {
      if reason == "dead", !isAlive(registered) {
        registrations[registered.proxy].removeAll { $0 === registered }
        ended.append(registered)
      }
      return drop(parcel, reason)
    }
    switch node.object {
    case .target(let target):
      running[target] += 1
      await run(node, part, parcel.argument, wasQueued: true)
      running[target] -= 1
      settle(parcel, node.served ?? Served())
    // It waits as the sender does: for answers, or for room.
    case .proxy(let proxy) where parcel.travel.send.verb.waits:
      registered.isBusy = true
      Task(executorPreference: executor) { [self] in
        settle(parcel, await sendAgain(parcel, by: proxy, context))
        registered.isBusy = false
        contexts[context].insert(contentsOf: registered.parked.map(Turn.parcel), at: 0)
        registered.parked = []
      }
      await executor.suspendUntilIdle()
    case .proxy(let proxy): _ = await sendAgain(parcel, by: proxy, context)
    }
  }

  /// A proxy with a delivery of its own sends the message again, and gives one answer.
  private func sendAgain(_ parcel: Parcel, by proxy: Int, _ context: Int) async -> Served {
    let (node, outer) = (parcel.node, parcel.travel)
    let verb: Verb =
      outer.waits ? .collectAndWait(.last) : outer.send.verb.waits ? .broadcastWhenReady : .broadcast
    let send = Send(verb: verb, word: outer.word, proxy: proxy, argument: parcel.argument)
    let travel = Travel(send, home: .context(context))
    let level = level(proxy, travel, path: [], proxies: node.proxies)
    let part = Part(travel)
    open.append(travel)
    defer { open.removeAll { $0 === travel } }
    var served = await settle(await surround(level, part, parcel.argument), level, part)
    travel.isOver = true
    reportErrorsOfHooks(&served, part)
    for fault in served.late + served.errors.dropFirst() { report(fault, part) }
    if var fault = served.errors.first {
      (fault.isListed, fault.proxies) = (outer.mode == .report, node.proxies)
      if outer.waits { node.outcome = .failed(fault.text) }
      return Served(errors: [fault], hasFailed: true)
    }
    if !travel.hasRun, served.answers.isEmpty {
      if outer.waits { node.outcome = .skipped("does not respond") }
      return Served()
    }
    outer.hasRun = true
    let answer = served.answers.last.map { Answer(value: $0.value, node: node) }
    if outer.waits { node.outcome = .delivered(answer?.value, wasQueued: true) }
    return Served(answers: [answer].compactMap(\.self))
  }
}
