// RepeatedTargets.swift: which registration stands for a target that has several, or had one before.

/// Targets that got a message. One registered several times with one delivery, for different selectors, gets a message once.
final class RepeatedTargets {
  @exclusivity(unchecked) private var found: [ObjectIdentifier: [Registration]] = .init()
  /// The targets that did not get it and are listed.
  @exclusivity(unchecked) private var listed: Set<ObjectIdentifier> = []
  /// How many registrations of a target, counted from the last, were found to let no message through.
  private var closed: [ObjectIdentifier: Int] = .init()

  /// Enters a registration. `false` when its target has the message by another one.
  func enter(_ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    let others = found[registration.key] ?? []
    if others.contains(where: { $0.delivery == registration.delivery }) { return false }
    found[registration.key] = others + [registration]
    return true
  }

  /// Whether the target of a skipped step has another active registration. However often that is asked, each registration is looked
  /// at once.
  func isActiveElsewhere(_ step: RouteStep, in node: RouteNode) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    guard let all = node.plan?.repeated[registration.key] else { return false }
    let found = all.dropLast(closed[registration.key] ?? 0).lastIndex { $0 !== registration && $0.isActive }
    closed[registration.key] = all.count - 1 - (found ?? -1)
    return found != nil
  }

  /// Enters a skipped target. `false` when it got the message, or is listed already.
  func list(_ step: RouteStep) -> Bool {
    let key = step.registration.takeUnretainedValue().key
    return found[key] == nil && listed.insert(key).inserted
  }
}

/// The registration by which a report lists each target: for a target removed and added again, the present one.
final class TargetListing {
  private var all: [ObjectIdentifier: Registration] = .init()

  /// - Parameter leftOut: registrations that are listed besides the steps.
  @inline(never) init(_ route: MessageRoute, _ leftOut: [Registration] = []) {
    guard !route.core.allowsDuplicates else { return }
    for registration in (0..<route.count).map({ route.steps[$0].registration.takeUnretainedValue() }) + leftOut
    where all[registration.key]?.isCancelled ?? true { all[registration.key] = registration }
  }

  /// Whether the target of a removed step is listed by another registration.
  func isAddedAnew(_ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    return all[registration.key].map { $0 !== registration } ?? false
  }
}
