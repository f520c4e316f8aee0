// Results.swift: what the reference gives a sender.

extension Reference {
  /// The outcomes of a proxy in delivery order.
  func leaves(_ level: Level) -> [Node] {
    level.nodes.flatMap { node in
      (node.outcome == .unlisted || node.outcome == .open ? [] : [node]) + (node.level.map(leaves) ?? [])
    } + [level.own].compactMap(\.self)
  }

  /// The registrations for which the message never was, in each proxy that it visited or passed over.
  private func unmatched(_ level: Level) -> [Node] {
    guard level.isListed else { return [] }
    let (own, others) = (level.nodes.filter { isUnmatched($0) }, level.nodes.filter { !isUnmatched($0) })
    return own + others.compactMap(\.level).flatMap { unmatched($0) }
  }

  func finish(_ travel: Travel, _ level: Level, _ served: Served, as name: String) {
    travel.isOver = true
    let part = Part(travel)
    var served = served
    reportErrorsOfHooks(&served, part)
    for fault in served.late { report(fault, part) }
    for answer in served.answers {
      if let node = answer.node, case .delivered(_, let wasQueued) = node.outcome {
        node.outcome = .delivered(answer.value, wasQueued: wasQueued)
      }
    }
    let leaves = leaves(level)
    var (answers, queued, failures, skipped): ([String], [String], [String], [String]) = ([], [], [], [])
    for leaf in leaves {
      switch leaf.outcome {
      case .delivered(let value, let wasQueued):
        answers.append("\(leaf.object) \(value.map { "\($0)" } ?? "nil")\(wasQueued ? " queued" : "")")
      case .queued: queued.append("\(leaf.object)")
      case .failed(let text): failures.append("\(leaf.object): \(text)")
      case .skipped where leaf.level?.hadDead ?? false: break
      case .skipped(let reason): skipped.append(entry(leaf, reason))
      case .open, .unlisted: break
      }
    }
    let ran = leaves.count { leaf in
      if case .delivered = leaf.outcome { !leaf.path.isEmpty } else { false }
    }
    // An error of hooks counts as a failure of their proxy, and what a full buffer refused was for somebody.
    let failed = failures.count + travel.failuresOfHooks
    let wasRefused = leaves.contains { $0.outcome == .skipped("buffer full") }
    let isNobody = failed == 0 && travel.dropped == 0 && ran == 0 && queued.isEmpty && !wasRefused
    func error(_ fault: Fault) -> Event { Event(step: step, actor: name, text: "throws \(fault.text)") }
    switch travel.mode {
    case .broadcast:
      func summary(_ queued: Int, _ dropped: Int) -> String {
        "delivered \(answers.count), queued \(queued), failed \(failed), dropped \(dropped), "
          + "nobody \(answers.count + queued + failed + dropped == 0)"
      }
      // A dead target on a queue counts until its context finds it dead, unless silence matters.
      let dead = isNobody && program.proxies[travel.send.proxy].silenceIsThrown ? 0 : travel.dead
      let also = (0...dead).flatMap { more in
        (0...dead).map { summary(queued.count + more, travel.dropped + $0) }
      }
      note(Event(step: step, actor: name, text: summary(queued.count, travel.dropped), also: also))
    case .report:
      if let fault = served.errors.first(where: { !$0.isListed }) { return note(error(fault)) }
      let text =
        "answers \(answers), queued \(queued), failures \(failures), dropped \(travel.dropped), nobody \(isNobody)"
      var either: [String: Set<String>] = [:]
      var maySkip = tolerated
      for leaf in leaves where leaf.outcome == .skipped("removed") {
        either[entry(leaf, "removed"), default: []].insert("nil removed")
      }
      for leaf in leaves where !leaf.object.isTarget {
        guard case .skipped(let reason) = leaf.outcome else { continue }
        if leaf.level?.hadDead ?? false { maySkip.append(entry(leaf, reason)) }
        if leaf.level == nil { either[entry(leaf, reason), default: []].insert(entry(leaf, "does not respond")) }
        if leaf.registered.isCancelled { either[entry(leaf, reason), default: []].insert(entry(leaf, "removed")) }
      }
      for node in unmatched(level) {
        guard let reason = obstacle(node) else { continue }
        // It may have ended, or its scope have grown, since the message came to it.
        let own = [entry(node, node.isInScope ? "does not respond" : "out of scope"), entry(node, "does not respond")]
        if reason == "dead" {
          maySkip += own
        } else {
          skipped.append(entry(node, reason))
          let hasGrown = !node.isInScope && node.registered.only?.contains(travel.word) ?? true
          either[entry(node, reason), default: []].formUnion(hasGrown ? own : [own[0]])
        }
      }
      note(Event(step: step, actor: name, text: text, skipped: skipped, maySkip: maySkip, either: either))
    case .collect(let policy):
      let isSettled = policy == .firstSuccess && !served.answers.isEmpty
      for fault in served.errors.dropFirst(isSettled ? 0 : 1) { report(fault, part) }
      if let fault = served.errors.first, !isSettled { return note(error(fault)) }
      let isRefused = skipped.contains { $0.hasSuffix("buffer full") }
      let lacksVotes = policy == .every && travel.waits && isRefused
      let result = lacksVotes ? "gives false" : "gives \(policy.result(of: served.answers.map(\.value)))"
      let notAwaited = "throws answers not waited for"
      if answers.isEmpty, failures.isEmpty, served.answers.isEmpty, !travel.hasRun,
        !travel.waits && !queued.isEmpty || isRefused
      {
        // Those that were to answer may have been removed since.
        let isOver = leaves.allSatisfy { leaf in
          if case .proxy(let proxy) = leaf.object, !responds(proxy, travel.word) { return true }
          return leaf.outcome != .queued || obstacle(leaf) != nil
        }
        note(Event(step: step, actor: name, text: notAwaited, also: isOver && !travel.waits ? [result] : []))
      } else {
        // A dead target on a queue counts until its context finds it dead.
        let mayRefuse = !travel.waits && travel.dead > 0 && answers.isEmpty && failures.isEmpty
        note(Event(step: step, actor: name, text: result, also: mayRefuse ? [notAwaited] : []))
      }
    }
  }

  /// What a report may list besides: targets that died before the message, until the list of targets is tidied up.
  private var tolerated: [String] {
    let dead = registrations.joined().filter { !isAlive($0) }
    return (ended + dead).flatMap { _ in ["nil dead", "nil dead", "nil dead"] }
  }

  private func entry(_ node: Node, _ reason: String) -> String {
    "\(reason == "dead" ? "nil" : "\(node.object)") \(reason)"
  }
}
