// Program.swift: what the reference and the library are both told to do.

/// The three messages: `tell:` answers nothing, `ask:` a number, `vote:` yes or no.
enum Word: Int, Sendable, CaseIterable, CustomStringConvertible {
  case tell, ask, vote
  var description: String { ["tell", "ask", "vote"][rawValue] }
}

enum Policy: Sendable, CaseIterable, CustomStringConvertible {
  case last, first, all, sum, max, firstSuccess, any, every

  /// What it makes one result of.
  var word: Word { self == .any || self == .every ? .vote : .ask }
  var mayStopEarly: Bool { [.first, .firstSuccess, .any, .every].contains(self) }

  /// Whether the result is known, so that nobody further is asked.
  func isKnown(by answers: [Int]) -> Bool {
    switch self {
    case .first, .firstSuccess: !answers.isEmpty
    case .any: answers.contains(1)
    case .every: answers.contains(0)
    case .last, .all, .sum, .max: false
    }
  }

  func result(of answers: [Int]) -> String {
    switch self {
    case .last: text(answers.last)
    case .first, .firstSuccess: text(answers.first)
    case .max: text(answers.max())
    case .all: "\(answers)"
    case .sum: "\(answers.reduce(0, +))"
    case .any: "\(answers.contains(1))"
    case .every: "\(!answers.contains(0))"
    }
  }

  private func text(_ answer: Int?) -> String { answer.map { "\($0)" } ?? "nil" }
  var description: String {
    switch self {
    case .last: ".last"
    case .first: ".first"
    case .all: ".all"
    case .sum: ".sum"
    case .max: ".max"
    case .firstSuccess: ".firstSuccess"
    case .any: ".any"
    case .every: ".every"
    }
  }
}

enum Verb: Sendable, Hashable {
  case broadcast, broadcastBoxed, forward, collect(Policy), collectBoxed(Policy)
  case collectAndWait(Policy), forwardAndWait, broadcastWhenReady

  var waits: Bool {
    switch self {
    case .collectAndWait, .forwardAndWait, .broadcastWhenReady: true
    default: false
    }
  }
  var policy: Policy? {
    switch self {
    case .collect(let policy), .collectBoxed(let policy), .collectAndWait(let policy): policy
    default: nil
    }
  }
}

/// One message, sent by `proxy`.
struct Send: Sendable, Hashable {
  var verb: Verb
  var word: Word
  var proxy = 0
  var argument = 1
}

enum Object: Sendable, Hashable, CustomStringConvertible {
  case target(Int), proxy(Int)
  var isTarget: Bool { if case .target = self { true } else { false } }
  var description: String {
    switch self {
    case .target(let index): "t\(index)"
    case .proxy(let index): "p\(index)"
    }
  }
}

enum Buffer: Sendable, Hashable {
  case unbounded, keepNewest(Int), keepOldest(Int), latestPerSelector, suspendSender(Int)
}

/// A registration that is to be made.
struct Addition: Sendable, Hashable {
  var object: Object
  var proxy = 0
  /// The context; `nil` where it is called in the sender's turn.
  var context: Int?
  /// `nil` where none is said.
  var priority: Int?
  var isStrong = false
  var only: [Word]?
  var buffer = Buffer.unbounded
  var deliversPending = false
}

struct HookSetup: Sendable, Hashable {
  enum Kind: Sendable, Hashable { case before, refusing, after, failingAfter, around(Around), stream, trace }
  /// What `around` does: sends it on; with 1,000 added to each answer; with 100 added to the argument; not; twice; gives an
  /// answer of its own without sending it on; sends it on and takes an error for no answer.
  enum Around: Sendable, Hashable, CaseIterable { case pass, change, argument, skip, twice, own, swallow }
  enum Form: Sendable, Hashable { case both, plain, waiting }

  var kind: Kind
  var proxy = 0
  /// By its key; `nil` where it is by boxes and for all messages.
  var word: Word?
  var form = Form.both
  /// What it does when it runs for the first time, before all else.
  var actions: [Action] = []
}

/// What a step, a target or a hook does.
indirect enum Action: Sendable, Hashable {
  case add(Addition)
  case remove(Object, from: Int)
  /// Cancels the registration that the addition of this number made or found.
  case cancel(Int)
  case mute(Object, in: Int)
  case unmute(Object, in: Int)
  /// Nobody but registrations holds the target any more.
  case release(Int)
  /// Installs a hook, which has the number of its installation.
  case hook(HookSetup)
  case cancelHook(Int)
  /// Replaces the row of a target that has a table of its own, or takes it away.
  case replaceRow(Int, Word)
  case removeRow(Int, Word)
  case send(Send)
}

struct TargetSetup: Sendable, Hashable {
  enum Shape: Sendable, Hashable, CaseIterable {
    case all, noVote, voteOnly, own
    func has(_ word: Word) -> Bool {
      switch self {
      case .all, .own: true
      case .noVote: word != .vote
      case .voteOnly: word == .vote
      }
    }
  }
  var shape = Shape.all
  var vote = true
  var throwsError = false
  /// What it does in the first message that it gets.
  var actions: [Action] = []
}

struct ProxySetup: Sendable, Hashable {
  var allowsDuplicates = false
  var silenceIsThrown = false
  var stopsAtFirst = false
  var hasErrorHandler = true
}

enum Step: Sendable, Hashable {
  case act(Action)
  /// Runs what waits on a context, until nothing does.
  case run(Int)
  /// Whether the proxy responds, and how many would get it.
  case question(Word, Int)
}

/// A world and what happens in it. Contexts are held but for the steps that run them; at the end all of them run.
struct Program: Sendable, Hashable {
  static let contexts = 2
  /// How often all contexts run at the end.
  static let rounds = 12
  var proxies: [ProxySetup]
  var targets: [TargetSetup]
  var steps: [Step]
}

// MARK: - As text

extension Program: CustomStringConvertible {
  var description: String {
    var lines: [String] = []
    let used = mentioned
    for (index, proxy) in proxies.enumerated() where used.contains(.proxy(index)) {
      var words: [String] = []
      if proxy.allowsDuplicates { words.append("duplicates .allowed") }
      if proxy.silenceIsThrown { words.append("silence .thrown") }
      if proxy.stopsAtFirst { words.append("errors .stopAtFirst") }
      if !proxy.hasErrorHandler { words.append("no onError") }
      lines.append("p\(index) = proxy\(words.isEmpty ? "" : ": " + words.joined(separator: ", "))")
    }
    for (index, target) in targets.enumerated() where used.contains(.target(index)) {
      var words = ["t\(index) = target"]
      switch target.shape {
      case .all: break
      case .noVote: words.append("of tell, ask")
      case .voteOnly: words.append("of vote")
      case .own: words.append("with a table of its own")
      }
      if !target.vote { words.append("votes no") }
      if target.throwsError { words.append("throws") }
      if !target.actions.isEmpty {
        words.append("{ " + target.actions.map { "\($0)" }.joined(separator: "; ") + " }")
      }
      lines.append(words.joined(separator: " "))
    }
    for (index, step) in steps.enumerated() { lines.append("\(index): \(step)") }
    return lines.joined(separator: "\n")
  }

  /// Which objects any step or callback names.
  var mentioned: Set<Object> {
    var found: Set<Object> = []
    func visit(_ action: Action) {
      switch action {
      case .add(let addition): found.formUnion([addition.object, .proxy(addition.proxy)])
      case .remove(let object, let proxy), .mute(let object, let proxy), .unmute(let object, let proxy):
        found.formUnion([object, .proxy(proxy)])
      case .release(let target), .replaceRow(let target, _), .removeRow(let target, _): found.insert(.target(target))
      case .hook(let hook):
        found.insert(.proxy(hook.proxy))
        hook.actions.forEach(visit)
      case .send(let send): found.insert(.proxy(send.proxy))
      case .cancel, .cancelHook: break
      }
    }
    for case .act(let action) in steps { visit(action) }
    for case .question(_, let proxy) in steps { found.insert(.proxy(proxy)) }
    var (open, seen) = (Array(found), Set<Object>())
    while let object = open.popLast() {
      guard case .target(let index) = object, seen.insert(object).inserted else { continue }
      let before = found
      targets[index].actions.forEach(visit)
      open += found.subtracting(before)
    }
    return found
  }
}

extension Step: CustomStringConvertible {
  var description: String {
    switch self {
    case .act(let action): "\(action)"
    case .run(let context): "run q\(context)"
    case .question(let word, let proxy): "p\(proxy) responds to \(word)?"
    }
  }
}

extension Action: CustomStringConvertible {
  var description: String {
    switch self {
    case .add(let addition): "\(addition)"
    case .remove(let object, let proxy): "p\(proxy).remove(\(object))"
    case .cancel(let addition): "registrations[\(addition)].cancel()"
    case .mute(let object, let proxy): "p\(proxy).mute(\(object))"
    case .unmute(let object, let proxy): "p\(proxy).unmute(\(object))"
    case .release(let target): "t\(target) = nil"
    case .hook(let hook): "\(hook)"
    case .cancelHook(let hook): "hooks[\(hook)].cancel()"
    case .replaceRow(let target, let word): "t\(target).table.replace(\(word))"
    case .removeRow(let target, let word): "t\(target).table.remove(\(word))"
    case .send(let send): "\(send)"
    }
  }
}

extension Addition: CustomStringConvertible {
  var description: String {
    var words = ["\(object)"]
    if let context { words.append("delivery: .queue(q\(context))") }
    if let priority { words.append("priority: \(priority)") }
    if isStrong { words.append("ownership: .strong") }
    if let only { words.append("only: \(only)") }
    if buffer != .unbounded { words.append("buffer: .\(buffer)") }
    if deliversPending { words.append("whenRemoved: .deliverPending") }
    return "p\(proxy).add(\(words.joined(separator: ", ")))"
  }
}

extension HookSetup: CustomStringConvertible {
  var description: String {
    let name =
      switch kind {
      case .before: "before"
      case .refusing: "before (throws)"
      case .after: "after"
      case .failingAfter: "after (throws)"
      case .around(let around): "around (\(around))"
      case .stream: "messages"
      case .trace: "trace"
      }
    let what = word.map { "\($0)" } ?? "all, by boxes"
    let forms = form == .both ? "" : form == .plain ? ", without a waiting form" : ", waiting form only"
    let callback = actions.isEmpty ? "" : " { " + actions.map { "\($0)" }.joined(separator: "; ") + " }"
    return "p\(proxy).\(name) for \(what)\(forms)\(callback)"
  }
}

extension Send: CustomStringConvertible {
  var description: String {
    switch verb {
    case .broadcast: "p\(proxy).broadcast(\(word), \(argument))"
    case .broadcastBoxed: "p\(proxy).broadcast(Invocation(\(word), \(argument)))"
    case .forward: "p\(proxy).forward(\(word), \(argument))"
    case .collect(let policy): "p\(proxy).collect(\(word), \(argument), returning: \(policy))"
    case .collectBoxed(let policy): "p\(proxy).collect(Invocation(\(word), \(argument)), returning: \(policy))"
    case .collectAndWait(let policy): "await p\(proxy).collectAndWait(\(word), \(argument), returning: \(policy))"
    case .forwardAndWait: "await p\(proxy).forwardAndWait(\(word), \(argument))"
    case .broadcastWhenReady: "await p\(proxy).broadcastWhenReady(\(word), \(argument))"
    }
  }
}
