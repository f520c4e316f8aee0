// RepeatedTargets.swift: which registration stands for a target that has several, or had one before.

/// Targets that got a message, where one is registered more than once with one delivery, for other selectors each time: a
/// message that several of its registrations are for arrives once.
final class RepeatedTargets {
  @exclusivity(unchecked) private var found: [ObjectIdentifier: [Registration]] = .init()
  /// Those that did not get it and are listed.
  @exclusivity(unchecked) private var listed: Set<ObjectIdentifier> = []
  /// How many registrations of a target, from the last on, were found to let no message through.
  private var closed: [ObjectIdentifier: Int] = .init()

  /// Enters a registration. `false` when its target has the message by another one.
  func enter(_ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    let others = found[registration.key] ?? []
    if others.contains(where: { $0.delivery == registration.delivery }) { return false }
    found[registration.key] = others + [registration]
    return true
  }

  /// Whether the target of a step that is passed by has another registration, which lets messages through. However often that is
  /// asked, each is looked at once.
  func isActiveElsewhere(_ step: RouteStep, in node: RouteNode) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    guard let all = node.plan?.repeated[registration.key] else { return false }
    let found = all.dropLast(closed[registration.key] ?? 0).lastIndex { $0 !== registration && $0.isActive }
    closed[registration.key] = all.count - 1 - (found ?? -1)
    return found != nil
  }

  /// Enters a target that is passed by. `false` when it is among those that got the message, or are listed.
  func list(_ step: RouteStep) -> Bool {
    let key = step.registration.takeUnretainedValue().key
    return found[key] == nil && listed.insert(key).inserted
  }
}

/// The registration that a report lists each target by: of a target that was removed and added anew the one that is there.
final class TargetListing {
  private var all: [ObjectIdentifier: Registration] = .init()

  /// - Parameter leftOut: registrations that are listed beside the steps.
  @inline(never) init(_ route: MessageRoute, _ leftOut: [Registration] = []) {
    guard !route.core.allowsDuplicates else { return }
    for registration in (0..<route.count).map({ route.steps[$0].registration.takeUnretainedValue() }) + leftOut
    where all[registration.key]?.isCancelled ?? true { all[registration.key] = registration }
  }

  /// Whether the target of a step that was removed is listed by another registration.
  func isAddedAnew(_ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    return all[registration.key].map { $0 !== registration } ?? false
  }
}
