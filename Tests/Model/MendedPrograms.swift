// MendedPrograms.swift: programs of which the library once did not do what the specification says, each as small as it gets.

import TestSupport
import Testing

struct MendedProgram: Sendable, CustomTestStringConvertible {
  /// What the library did, in a sentence.
  let title: String
  /// What the specification says.
  let rule: String
  let program: Program

  init(
    _ title: String, _ rule: String, targets: [Int: TargetSetup] = [:], proxies: [Int: ProxySetup] = [:],
    runs context: (context: Int, step: Int)? = nil, _ steps: Action...
  ) {
    self.title = title
    self.rule = rule
    var program = Program(
      proxies: (0..<3).map { proxies[$0] ?? ProxySetup() }, targets: (0..<5).map { targets[$0] ?? TargetSetup() },
      steps: steps.map { .act($0) })
    if let context { program.steps.insert(.run(context.context), at: context.step) }
    self.program = program
  }

  var testDescription: String { title }
}

func add(_ target: Int, to proxy: Int = 0, on context: Int? = nil) -> Action {
  .add(Addition(object: .target(target), proxy: proxy, context: context))
}
func nest(_ inner: Int, in proxy: Int = 0, on context: Int? = nil) -> Action {
  .add(Addition(object: .proxy(inner), proxy: proxy, context: context))
}
func hook(_ kind: HookSetup.Kind, on proxy: Int, for word: Word? = nil) -> Action {
  .hook(HookSetup(kind: kind, proxy: proxy, word: word))
}
func send(_ verb: Verb, _ word: Word = .tell, _ argument: Int = 1) -> Action {
  .send(Send(verb: verb, word: word, argument: argument))
}

extension MendedProgram {
  private static let between =
    "A hook, stream, trace, queue or level between changes nothing but what it is for"
  private static let alongWith =
    "A nested proxy that is removed or muted takes what waits behind it along, as a target does"

  static let all: [MendedProgram] = [
    MendedProgram(
      "what a buffer gives up of a target that is dead is listed as given up",
      "A skip's reason is the first that holds of: removed, dead",
      targets: [4: TargetSetup(actions: [.release(3)])], add(4),
      .add(Addition(object: .target(3), context: 0, buffer: .latestPerSelector)), send(.forwardAndWait, .ask),
      send(.broadcast, .ask)),
    MendedProgram(
      "a target that was removed, added anew and muted is listed twice",
      "A report has each target once, in one of its lists",
      add(1), add(0), send(.broadcast), .remove(.target(0), from: 0), add(0), .mute(.target(0), in: 0),
      send(.forward)),
    MendedProgram(
      "a target that is removed, added anew and muted in a message is listed twice",
      "A report has each target once, in one of its lists",
      targets: [1: TargetSetup(actions: [.remove(.target(0), from: 0), add(0), .mute(.target(0), in: 0)])],
      add(1), add(0), send(.forward), send(.forward)),
    MendedProgram(
      "what a full buffer behind a nested proxy on a queue gave up is not counted for a sender who waits",
      "\(between): … reports and counts", nest(1, on: 0),
      .add(Addition(object: .target(1), proxy: 1, context: 1, buffer: .keepNewest(1))), send(.broadcast),
      send(.forwardAndWait)),
    MendedProgram(
      "a proxy is silent though a target ran, whose error a hook of a nested proxy took",
      "Counts are of targets that ran, whatever hooks make of their answers; `nobodyResponded` says that none did",
      targets: [2: TargetSetup(throwsError: true)], proxies: [0: ProxySetup(silenceIsThrown: true)],
      add(2, to: 1), hook(.around(.swallow), on: 1), nest(1), send(.collect(.any), .vote)),
    MendedProgram(
      "who is muted behind a nested proxy that is removed is listed as muted",
      "A skip's reason is the first that holds of: removed, dead, muted",
      targets: [
        2: TargetSetup(actions: [.mute(.target(0), in: 2)]), 4: TargetSetup(actions: [.remove(.proxy(2), from: 0)]),
      ], nest(2), add(2, to: 2), add(4, to: 2), add(0, to: 2), send(.forward)),
    MendedProgram(
      "what stands behind a nested proxy is queued after a hook of that proxy has muted it", alongWith,
      nest(1), add(3, to: 1, on: 0),
      .hook(HookSetup(kind: .before, proxy: 1, word: .tell, actions: [.mute(.proxy(1), in: 0)])), send(.broadcast)),
    MendedProgram(
      "a muted target of which one registration was removed is listed as removed",
      "A skip's reason is the first that holds of: removed, dead, muted", add(2),
      .add(Addition(object: .target(2), only: [.tell, .ask])), .add(Addition(object: .target(2), only: [.tell])),
      .mute(.target(2), in: 0), send(.broadcast), .cancel(0), send(.forward)),
    MendedProgram(
      "a sender waits for room behind a nested proxy that was removed", alongWith,
      nest(1), .add(Addition(object: .target(1), proxy: 1, context: 1, buffer: .suspendSender(1))), send(.broadcast),
      send(.broadcastWhenReady), .remove(.proxy(1), from: 0)),
    MendedProgram(
      "a sender waits for room behind a nested proxy that is muted", alongWith,
      nest(2, in: 1), nest(1), .add(Addition(object: .target(1), proxy: 2, context: 1, buffer: .suspendSender(1))),
      send(.broadcast), send(.collectAndWait(.all), .ask), .mute(.proxy(1), in: 0)),
    MendedProgram(
      "who stands behind an error that stops is listed as stopped where the proxy was removed",
      "A skip's reason is the first that holds of: removed, … withheld, stopped",
      targets: [3: TargetSetup(throwsError: true, actions: [.remove(.proxy(1), from: 0)])],
      proxies: [1: ProxySetup(stopsAtFirst: true)], nest(1), add(3, to: 1), add(4, to: 1), send(.forward)),
    MendedProgram(
      "a question that full buffers refuse has the empty answer", "somebody would respond but cannot be asked now",
      .add(Addition(object: .target(1), context: 1, buffer: .keepOldest(1))), send(.broadcast),
      send(.collectAndWait(.sum), .ask), send(.collectAndWait(.every), .vote)),
    MendedProgram(
      "the report of a sender who waits keeps a weak target alive that has not run yet",
      "weak; dead targets are never called", add(2, on: 0), send(.forwardAndWait), .release(2)),
    MendedProgram(
      "a sender waits for the context of a target that is dead", "dead targets are never called, counted or listed",
      add(2, on: 0), send(.broadcast), .release(2), send(.collectAndWait(.all), .ask), send(.forwardAndWait)),
    MendedProgram(
      "a report lists a registration as queued whose target has died meanwhile",
      "dead targets are never called, counted or listed", targets: [3: TargetSetup(actions: [.release(1)])],
      add(3), add(1, on: 1), send(.forward)),
    MendedProgram(
      "a full buffer of a dead target keeps silence from being told",
      "dead targets are never called, counted or listed",
      proxies: [0: ProxySetup(silenceIsThrown: true)],
      .add(Addition(object: .target(3), context: 0, buffer: .latestPerSelector)), send(.broadcast), .release(3),
      send(.broadcast)),
    MendedProgram(
      "two senders hang, each with a place in a buffer that the other waits for", "No hang for any schedule",
      nest(2), nest(1), nest(2, in: 1),
      .add(Addition(object: .target(3), proxy: 1, context: 0, buffer: .suspendSender(1))),
      .add(Addition(object: .target(4), proxy: 2, context: 1, buffer: .suspendSender(1))),
      .send(Send(verb: .broadcast, word: .tell, proxy: 1)),
      .send(Send(verb: .collectAndWait(.all), word: .ask, proxy: 1)), send(.collectAndWait(.all), .ask)),
    MendedProgram(
      "a hook that sends a message on twice has the second one dropped that was to wait for room",
      "\(between): … room in buffers", hook(.around(.twice), on: 0),
      .add(Addition(object: .target(4), context: 0, buffer: .suspendSender(1))), send(.broadcastWhenReady)),
    MendedProgram(
      "behind a hook the answer counts as open of a target whose buffer is full, and further targets are asked",
      "\(between): … early stopping", targets: [4: TargetSetup(vote: false)],
      .add(Addition(object: .target(4), context: 1, buffer: .keepOldest(1))), hook(.after, on: 0), add(4), add(3),
      send(.broadcast), send(.collectAndWait(.every), .vote)),
    MendedProgram(
      "a strong target that is removed in a message that it does not respond to is in no list",
      "A skip's reason is the first that holds of: removed, dead, muted, out of scope, does not respond",
      targets: [0: TargetSetup(shape: .voteOnly), 4: TargetSetup(actions: [.remove(.target(0), from: 0)])],
      .add(Addition(object: .target(0), isStrong: true)), .add(Addition(object: .target(4), priority: 1)),
      send(.forward)),
    MendedProgram(
      "a target with two registrations that dies in a message is listed twice",
      "A report has each target once, in one of its lists",
      targets: [4: TargetSetup(actions: [.release(1)])],
      add(4), add(1), .add(Addition(object: .target(1), only: [.ask, .vote])), send(.forward, .ask)),
    MendedProgram(
      "an answer that waits behind an open one keeps its weak target alive", "weak; dead targets are never called",
      nest(1, on: 0), nest(2), add(4, to: 2), send(.collectAndWait(.every), .vote), .release(4), send(.broadcast)),
    MendedProgram(
      "who has the message by one registration is listed as passed over for another",
      "A report has each target once, in one of its lists",
      targets: [0: TargetSetup(actions: [.remove(.target(2), from: 0)])],
      add(2), add(0), .add(Addition(object: .target(2), only: [.ask])), send(.forward, .ask)),
    MendedProgram(
      "a nested proxy on a queue that is registered twice counts twice", "a message still arrives once",
      .add(Addition(object: .proxy(2), proxy: 1, context: 1)),
      .add(Addition(object: .proxy(2), proxy: 1, context: 1, only: [.tell])), add(3, to: 2), nest(1, on: 0),
      send(.broadcast)),
    MendedProgram(
      "a nested proxy that is registered for other selectors is listed in place of its targets",
      "a nested proxy is no entry itself unless it is empty or was refused",
      .add(Addition(object: .proxy(1), only: [.vote])), add(2, to: 1), send(.forward)),
    MendedProgram(
      "a nested proxy on a queue that is removed before its turn is listed in place of its targets",
      "a nested proxy is no entry itself unless it is empty or was refused",
      nest(1, on: 0), add(1, to: 1), send(.forwardAndWait), .remove(.proxy(1), from: 0)),
    MendedProgram(
      "the after hook of a nested proxy that is on a queue does not see queued answers",
      "A hook of a nested proxy sees and may replace what its queued targets answer or throw, where the sender waits",
      hook(.after, on: 1), nest(1, on: 0), add(1, to: 1, on: 1), send(.collectAndWait(.sum), .ask)),
    MendedProgram(
      "a sender who waits is not suspended by a full buffer behind a nested proxy on a queue",
      "\(between): … room in buffers", nest(1, on: 1),
      .add(Addition(object: .target(3), proxy: 1, context: 0, buffer: .suspendSender(1))), send(.broadcast),
      send(.forwardAndWait)),
    MendedProgram(
      "what waits behind a nested proxy runs after the proxy was removed", alongWith,
      nest(1), add(1, to: 1, on: 0), send(.broadcast), .remove(.proxy(1), from: 0)),
    MendedProgram(
      "what waits behind a nested proxy runs while the proxy is muted", alongWith,
      nest(1), add(1, to: 1, on: 0), send(.broadcast), .mute(.proxy(1), in: 0)),
    MendedProgram(
      "what left for a nested proxy that is removed in the same message runs, and the summary does not count it",
      alongWith, targets: [0: TargetSetup(actions: [.remove(.proxy(1), from: 0)])],
      add(0), nest(1), add(1, to: 1, on: 0), send(.broadcast)),
    MendedProgram(
      "a nested proxy on a queue counts as one that is queued, also when it is empty",
      "\(between): … reports and counts are those of the same message without it",
      nest(1, on: 0), add(1, to: 1), add(2, to: 1), send(.broadcast)),
    MendedProgram(
      "a nested proxy on a queue asks those that it has when its turn comes",
      "\(between): … who joins when", nest(1, on: 0), add(1, to: 1), send(.broadcast), add(2, to: 1)),
    MendedProgram(
      "a target that is removed behind a nested proxy on a queue is in no list of the report of its waiting sender",
      "A report has each target once, in one of its lists", add(0), nest(1, on: 0), add(1, to: 1), add(2, to: 1),
      send(.forwardAndWait), .remove(.target(2), from: 1)),
    MendedProgram(
      "the around hook of a nested proxy that is on a queue is given no error of its targets",
      "A hook of a nested proxy sees and may replace what its queued targets answer or throw, where the sender waits",
      targets: [2: TargetSetup(throwsError: true)], hook(.around(.pass), on: 1), nest(1, on: 0), add(2, to: 1),
      send(.collectAndWait(.last), .ask)),
    MendedProgram(
      "the after hook of a nested proxy that is on a queue sees answers that nobody asked for",
      "queued targets give their answers only to senders that wait",
      hook(.after, on: 1), nest(1, on: 0), add(1, to: 1), send(.broadcast, .ask), send(.collect(.last), .ask)),
    MendedProgram(
      "a nested proxy that is traced asks all of its targets, whatever the policy", "\(between): … early stopping",
      targets: [0: TargetSetup(vote: false)], hook(.trace, on: 1), add(0), nest(1), add(1, to: 1), add(2, to: 1),
      send(.collect(.any), .vote)),
    MendedProgram(
      "a question of which all targets are queued behind a nested proxy has the empty answer",
      "somebody would respond but cannot be asked now: `notAwaited`", nest(1), add(1, to: 1, on: 1),
      send(.collect(.last), .ask)),
    MendedProgram(
      "the report of a proxy with a hook lists twice who is passed over",
      "A report has each target once, in one of its lists",
      targets: [2: TargetSetup(shape: .voteOnly)], hook(.after, on: 0, for: .tell), add(2), send(.forward)),
    MendedProgram(
      "a nested proxy that is muted is listed in place of its targets",
      "a nested proxy is no entry itself unless it is empty or was refused", nest(1), add(1, to: 1),
      .mute(.proxy(1), in: 0),
      send(.forward)),
    MendedProgram(
      "a sender who waits for answers keeps a weak target alive that has given one",
      "weak; dead targets are never called",
      add(2), add(3, on: 0), send(.collectAndWait(.all), .ask), .release(2), send(.broadcast)),
    MendedProgram(
      "a target that mutes the nested proxy around it leaves the targets behind it reached",
      "mute: from now on and also later in a broadcast that is under way",
      targets: [1: TargetSetup(actions: [.mute(.proxy(1), in: 0)])],
      nest(1), add(1, to: 1), add(2, to: 1), send(.broadcast)),
    MendedProgram(
      "a report lists a target that was added meanwhile, and the nested proxy that it was added to",
      "added during a broadcast: from the next broadcast on; a nested proxy is no entry itself unless it is empty",
      targets: [0: TargetSetup(actions: [add(0, to: 1)])],
      .add(Addition(object: .target(4), proxy: 1, only: [.ask, .vote])), add(0), nest(1), send(.forward)),
    MendedProgram(
      "a target that got the message stands among the skipped too, for a registration of other selectors",
      "A report has each target once, in one of its lists",
      add(3), .add(Addition(object: .target(3), only: [.ask])), send(.forward)),
    MendedProgram(
      "who is muted and out of scope is listed as out of scope",
      "A skip's reason is the first that holds of: removed, dead, muted, out of scope",
      .add(Addition(object: .target(4), only: [.tell])), .mute(.target(4), in: 0), send(.forward, .ask)),
    MendedProgram(
      "adding again without saying a priority moves a target to priority 0",
      "Adding again without saying a priority keeps the place",
      .add(Addition(object: .target(2), priority: 1)), add(3), add(2), send(.broadcast)),
    MendedProgram(
      "a nested proxy on a queue asks all of its targets, whatever the policy", "\(between): … early stopping",
      nest(2, on: 1), add(1, to: 2), add(0, to: 2), send(.collectAndWait(.first), .ask)),
    MendedProgram(
      "an empty nested proxy behind an error that stops is in no list",
      "a nested proxy is no entry itself unless it is empty",
      targets: [2: TargetSetup(throwsError: true)], proxies: [0: ProxySetup(stopsAtFirst: true)],
      add(2), nest(1), send(.forward)),
    MendedProgram(
      "a stream has a message that still waits for room", "A message is in the sequence when it leaves",
      hook(.stream, on: 0, for: .vote),
      .add(Addition(object: .target(2), context: 0, buffer: .suspendSender(1))), send(.broadcast),
      send(.collectAndWait(.every), .vote)),
    MendedProgram(
      "what a nested proxy has queued comes twice where the proxy is registered for two sets of selectors",
      "with another `only` set it is one more registration, and a message still arrives once",
      .add(Addition(object: .proxy(1), only: [.ask])), add(4, to: 1, on: 0), nest(1), send(.broadcast, .ask)),
    MendedProgram(
      "who is removed in a message that it is out of the scope of is in no list",
      "A skip's reason is the first that holds of: removed, dead, muted, out of scope",
      targets: [0: TargetSetup(actions: [.remove(.target(1), from: 0)])],
      add(0), .add(Addition(object: .target(1), only: [.tell])), send(.forwardAndWait, .ask)),
    MendedProgram(
      "a report does not name the targets from which the hook of a nested proxy withheld the message",
      "`forward` names the targets from which a hook withheld the message",
      hook(.refusing, on: 2, for: .tell), nest(2), add(3, to: 2), send(.forward)),
    MendedProgram(
      "a sender hangs that needs two places in a buffer of one, since two ways lead to the target",
      "No hang for any input; a proxy that is reached by two ways passes the message on twice",
      nest(1), .add(Addition(object: .target(2), proxy: 2, context: 1, buffer: .suspendSender(1))), nest(2, in: 1),
      nest(2),
      send(.collectAndWait(.any), .vote)),
    MendedProgram(
      "nobody responded is said where something stands around the root and the only target is queued behind a nested proxy",
      "`nobodyResponded` says that none did",
      proxies: [0: ProxySetup(silenceIsThrown: true)], hook(.trace, on: 0), add(2, to: 2, on: 0), nest(2),
      send(.broadcast)),
    MendedProgram(
      "a sender loses its place where a hook that waits stands inside of one that goes on twice", between,
      hook(.around(.pass), on: 0), hook(.around(.twice), on: 0, for: .tell),
      .add(Addition(object: .target(1), context: 0, buffer: .suspendSender(1))),
      send(.forwardAndWait), send(.forwardAndWait)),
    MendedProgram(
      "a target whose buffer gave a message up is kept alive while its sender waits for others",
      "ownership: weak",
      .add(Addition(object: .target(4), context: 0, buffer: .keepNewest(1))), add(1, on: 0),
      send(.collectAndWait(.firstSuccess), .ask), send(.broadcast), .release(4)),
    MendedProgram(
      "a hook that is waited for inside of another keeps an answer that came meanwhile from being enough", between,
      add(1, on: 0), nest(2), add(3, to: 2, on: 0), add(0), hook(.after, on: 0), hook(.after, on: 2),
      send(.collectAndWait(.firstSuccess), .ask)),
    MendedProgram(
      "a sender who waits for room is told that a muted target was removed",
      "A skip's reason is the first that holds of: removed, dead, muted",
      .add(Addition(object: .target(2), context: 0, buffer: .suspendSender(1))), send(.broadcast),
      send(.forwardAndWait), .mute(.target(2), in: 0)),
    MendedProgram(
      "a nested proxy on a queue counts as queued after the proxy inside it was canceled",
      "`nobodyResponded` says that none did",
      targets: [1: TargetSetup(shape: .noVote)], nest(1, on: 1), nest(2, in: 1), add(1, to: 1), send(.broadcast, .vote),
      .cancel(1), send(.broadcast, .vote)),
    MendedProgram(
      "what a proxy on a queue has sent to another queue is dropped when the proxy is muted",
      "A multicast on a queue is an ordinary target, and what it sends on is its own message",
      runs: (context: 1, step: 3), add(4, to: 1, on: 0), nest(1, on: 1), send(.broadcast), .mute(.proxy(1), in: 0)),
    MendedProgram(
      "a queued target that is removed within the message keeps an answer behind it from being enough",
      "A sender waits for no removed target",
      targets: [4: TargetSetup(actions: [.remove(.target(3), from: 0)])],
      add(3, on: 1), add(4), add(0), send(.collectAndWait(.first), .ask)),
    MendedProgram(
      "a queued target that is removed within a hook's message keeps an answer behind it from being enough",
      "A sender waits for no removed target",
      targets: [4: TargetSetup(actions: [.remove(.target(3), from: 0)])],
      hook(.around(.pass), on: 0), add(3, on: 1), add(4), add(0), send(.collectAndWait(.first), .ask)),
    MendedProgram(
      "a report lists a registration that ended before the message",
      "A report lists the registrations that existed when the message began",
      add(4, to: 2), nest(1), add(1, to: 2), nest(2, in: 1), nest(2), send(.broadcast, .vote),
      .remove(.target(4), from: 2), send(.forwardAndWait, .vote)),
    MendedProgram(
      "a removed proxy is listed beside what it holds",
      "a nested proxy is no entry itself unless it is empty",
      targets: [1: TargetSetup(shape: .voteOnly), 2: TargetSetup(actions: [.cancel(4)])],
      nest(2, in: 1), add(1, to: 2), add(4), add(2), nest(1), send(.forwardAndWait)),
    MendedProgram(
      "an empty proxy whose hook fails is listed twice", "A report has each target once, in one of its lists",
      hook(.failingAfter, on: 1), hook(.refusing, on: 2), nest(1), nest(2), send(.forwardAndWait)),
    MendedProgram(
      "a target that is removed with its messages to deliver, and muted, is listed as muted",
      "A skip's reason is the first that holds of: removed, dead, muted",
      .add(Addition(object: .target(2), context: 1, deliversPending: true)), send(.forwardAndWait),
      .mute(.target(2), in: 0), .remove(.target(2), from: 0)),
    MendedProgram(
      "a report omits a target that joined while a hook changed the route",
      "A report lists the registrations that existed when the message began",
      targets: [0: TargetSetup(actions: [.cancelHook(0), add(2)]), 2: TargetSetup(shape: .noVote)],
      add(0), hook(.before, on: 0), send(.broadcast, .vote), send(.forwardAndWait, .vote)),
    MendedProgram(
      "a sender posts to a full buffer although an earlier target has failed while it waited for room",
      "Stop at the first error, of those known when a target is to be called",
      targets: [0: TargetSetup(throwsError: true)], proxies: [0: ProxySetup(stopsAtFirst: true)],
      .add(Addition(object: .target(2), context: 1, priority: -1, buffer: .suspendSender(1))), send(.broadcast),
      add(0, on: 0), send(.forwardAndWait)),
  ]
}

@Suite("Programs that once differed")
struct MendedProgramTests {
  @Test(
    "the library does what the specification says", .oneAtATime,
    arguments: MendedProgram.all)
  func mended(_ mended: MendedProgram) {
    let difference = Judge().difference(in: mended.program)
    #expect(difference == nil, "\(mended.rule)\n\(mended.program)\n\(difference?.description ?? "")")
  }
}
