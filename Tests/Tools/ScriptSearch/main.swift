// main.swift: searches for the most expensive script.
//
//     FORWARDCAST_ONLY=script-search swift run -c release script-search SECONDS [SEED] [FILE.msg …]
//
// Scripts are made by a grammar and changed a little at a time, for SECONDS of processor time. Kept is what would cost more for
// a million steps, in a single step, or in memory, the most expensive of each kind. What is printed at the end, as a table: seconds
// of processor time for a million steps, measured in a whole run, the longest single step, and the most memory beside what the
// process had. Files are measured without a search. Asked to end, as by `kill`, the search does so; what is expensive is told when
// it is found. README.md has what was found.

import Foundation
import ForwardcastScript
import Synchronization
import TestSupport

/// What a run took.
struct Cost {
  /// Seconds of processor time, of all threads.
  let seconds: Double
  /// Seconds that all of the limits would take at this rate.
  let whole: Double
  /// The longest step that was seen, in seconds of its thread.
  let longestStep: Double
  /// Bytes that the process had at most, beside those before.
  let memory: Double
  /// How much of its steps or of its work the run took.
  let share: Double

  /// 1 for what reaches a bound: 20 seconds, 0.1 s for a step, 1 GiB.
  var dearness: Double { max(whole / 20, longestStep / 0.1, memory / Double(1 << 30)) }
}

/// Bytes of memory: of the process, or at most since the last `resetPeak()`; 0 where the system does not say.
func memory(_ key: String) -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
  return (line.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) * 1024
}

/// Gives back what is free, so that the next script needs its own.
func resetPeak() {
  #if canImport(Glibc)
    // The C library's module does not name it.
    if let trim = dlsym(nil, "malloc_trim") {
      _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
    }
  #endif
  try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
}

func processorTime(_ clock: clockid_t = CLOCK_PROCESS_CPUTIME_ID) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The longest time between two steps of one thread.
final class StepTimes: Sendable {
  private let state = Mutex<(last: [ObjectIdentifier: Double], longest: Double)>(([:], 0))

  func note() {
    let (thread, now) = (ObjectIdentifier(Thread.current), processorTime(CLOCK_THREAD_CPUTIME_ID))
    state.withLock { state in
      if let last = state.last.updateValue(now, forKey: thread) { state.longest = max(state.longest, now - last) }
    }
  }

  var longest: Double { state.withLock { $0.longest } }
}

final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Runs a text until a limit ends it, or for `patience` seconds. What it takes to be parsed does not grow with its steps.
func measure(_ text: String, steps: Int, patience: Double, timesSteps: Bool = false) -> Cost {
  let parsing = processorTime()
  _ = ScriptSession.check(text)
  let parsed = processorTime() - parsing
  resetPeak()
  let before = memory("VmRSS")
  let begin = processorTime()
  let times = StepTimes()
  var handlers = ScriptHandlers(output: { _ in }, diagnostics: { _ = "\($0)" })
  // To ask the processor's clock takes about a microsecond: at every step, that would be most of what is measured.
  let questions = Counter()
  handlers.isCancelled = {
    if timesSteps { times.note() }
    return questions.next() & 0x1F == 0 && processorTime() - begin > patience
  }
  let outcome = ScriptSession(stepLimit: steps, handlers: handlers).run(text)
  let seconds = processorTime() - begin
  let share = max(
    Double(outcome.steps) / Double(ScriptSession.defaultStepLimit),
    Double(outcome.work) / Double(ScriptSession.workLimit(forSteps: ScriptSession.defaultStepLimit)))
  // What ended by itself, or by a limit on a value or on one message, would end so with any number of steps.
  let goesOn = ["steps", "units of work", "was cancelled"].contains { outcome.error?.text.hasSuffix($0) ?? false }
  return Cost(
    seconds: seconds, whole: goesOn ? parsed + max(seconds - parsed, 0) / max(share, 1e-6) : seconds,
    longestStep: times.longest,
    memory: memory("VmHWM") - before, share: goesOn ? share : 1)
}

/// Whether somebody has sent the signal that asks a process to end, which is kept from it.
func isAskedToEnd() -> Bool {
  var asked = sigset_t()
  sigemptyset(&asked)
  sigaddset(&asked, SIGTERM)
  sigprocmask(SIG_BLOCK, &asked, nil)
  sigpending(&asked)
  return sigismember(&asked, SIGTERM) == 1
}

func report(_ name: String, _ text: String) {
  let whole = measure(text, steps: ScriptSession.defaultStepLimit, patience: 60)
  let single = measure(text, steps: 200_000, patience: 20, timesSteps: true)
  print(
    "| \(name) | \(String(format: "%.1f", whole.seconds)) | \(String(format: "%.4f", single.longestStep)) "
      + "| \(Int(whole.memory) >> 20) |")
  fflush(nil)
}

let arguments = CommandLine.arguments.dropFirst()
let files = arguments.filter { $0.hasSuffix(".msg") }
let numbers = arguments.compactMap { Double($0) }
print("| script | s a million steps | s the longest step | MiB |\n|---|---|---|---|")
for file in files { report(file, try String(contentsOfFile: file, encoding: .utf8)) }
guard let seconds = numbers.first else { exit(0) }

let seed = UInt64(numbers.dropFirst().first ?? 20_261_122)
var grammar = Grammar(seed: seed)
/// The most expensive of each kind.
var kept: [String: (candidate: Candidate, dearness: Double)] = [:]
let place = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("script-search-\(seed).msg")
var count = 0
while processorTime() < seconds, !isAskedToEnd() {
  count += 1
  let best = kept.values.sorted { $0.dearness > $1.dearness }.prefix(60)
  let isNew = best.isEmpty || grammar.number(0...4) == 0
  let candidate = isNew ? grammar.candidate() : grammar.changed(grammar.pick(Array(best)).candidate)
  // What ends the process can be found there.
  try? candidate.text.write(to: place, atomically: false, encoding: .utf8)
  if ScriptSession.check(candidate.text) != nil { continue }
  var cost = measure(candidate.text, steps: 2000, patience: 5, timesSteps: true)
  // What is promising is measured again, for longer: noise does not stay.
  if cost.dearness > 0.25 { cost = measure(candidate.text, steps: 20_000, patience: 10, timesSteps: true) }
  guard cost.dearness > kept[candidate.kind]?.dearness ?? 0 else { continue }
  kept[candidate.kind] = (candidate, cost.dearness)
  if cost.dearness > 0.5 {
    print(count, Int(processorTime()), cost, candidate.kind)
    fflush(nil)
    try? candidate.text.write(to: place.appendingPathExtension("\(count)"), atomically: false, encoding: .utf8)
  }
  if kept.count > 2000 {
    for (kind, _) in kept.sorted(by: { $0.value.dearness > $1.value.dearness }).dropFirst(1000) { kept[kind] = nil }
  }
}
let mostExpensive = kept.sorted { $0.value.dearness > $1.value.dearness }.prefix(20)
for (index, found) in mostExpensive.enumerated() {
  let file = place.deletingLastPathComponent().appendingPathComponent("script-search-\(seed)-\(index).msg")
  try? found.value.candidate.text.write(to: file, atomically: false, encoding: .utf8)
}
print("\(count) scripts in \(Int(processorTime())) s of processor time, seed \(seed)")
for (kind, value) in mostExpensive { report(kind.replacingOccurrences(of: "|", with: "in"), value.candidate.text) }
