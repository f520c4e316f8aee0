// MessageExplanation.swift: explains which targets a message would reach.

/// The targets that would receive a message if it were sent now, and why other targets would not.
///
///     print(themes.explain("progressOf:"))
///     // progressOf: of MulticastProxy<ThemesDelegate>, 1 of 2 registrations
///     // hooks: before progressOf:
///     // target  receives  row or reason      context
///     // Screen  yes       the proxy's table  direct
///     // Page    no        muted              queue disk
///
/// See ``MulticastSending/explain(_:)-(MessageSelector)``.
public struct MessageExplanation: Sendable {
  /// One registration.
  public struct Entry: Sendable {
    /// The registration.
    public let registration: Registration
    /// The name of the target's type.
    public let target: String
    /// The reason to skip the target; `nil` if the target would get the message.
    public let reason: DeliveryReport.SkipReason?
    /// Where the method comes from, such as `table of Screen`, or `its targets` for a multicast.
    /// `nil` if the target is skipped and is not a multicast.
    public let row: String?
    /// The context of the method, such as `direct` or `queue disk`.
    public let context: String
    /// The explanation of a target that is a multicast.
    public let nested: MessageExplanation?

    /// True if the target would get the message.
    public var receives: Bool { reason == nil }
  }

  /// The message.
  public let selector: MessageSelector
  /// The name of the proxy.
  public let proxy: String
  /// The hooks around the message in this proxy, outermost first, such as `before progressOf:`, or
  /// `retrying progressOf:` for a ready-made hook.
  public let hooks: [String]
  /// True if the message would first create lazy observers of an extension point.
  public let createsObservers: Bool
  /// The registrations in delivery order.
  public let entries: [Entry]
  /// Similar selectors that targets answer, best first, if no target responds to this one. Empty
  /// for a nested proxy.
  public let similarNames: [String]
  /// True if a target does not respond, but might respond if the proxy had a table.
  let lacksTable: Bool

  /// The targets that would get the message. Lists a nested proxy's targets instead of the proxy.
  public var receivers: [Entry] {
    entries.filter(\.receives).flatMap { $0.nested?.receivers ?? [$0] }
  }
}

/// A registration whose target does not exist yet.
package struct LazyTarget {
  let slot: Registration
  let name: String
  let delivery: Delivery
  /// Why the message would not create the target; `nil` if it would.
  let reason: DeliveryReport.SkipReason?

  package init(_ slot: Registration, _ name: String, _ delivery: Delivery, _ reason: DeliveryReport.SkipReason?) {
    (self.slot, self.name, self.delivery, self.reason) = (slot, name, delivery, reason)
  }
}

/// A multicast that creates targets.
package protocol LazyTargetListing: AnyObject {
  /// The targets that do not exist yet, and whether a message would create them.
  func lazyTargets(for selector: MessageSelector) -> [LazyTarget]
}

extension MulticastSending {
  /// Explains which targets a message would reach if it were sent now. Sends and creates nothing,
  /// but calls `responds(to:)` of targets that forward.
  ///
  /// - Complexity: O(*n*) in the number of registrations, including those of nested proxies.
  public func explain(_ selector: MessageSelector) -> MessageExplanation {
    let route = route(for: selector)
    var count = 0
    return explanation(route, ProxyChain(route.core), nil, &count)
  }

  /// Explains which targets a key's message would reach.
  public func explain<Function>(_ message: Message<Function>) -> MessageExplanation { explain(message.selector) }

  /// - Parameters:
  ///   - outer: why the message does not enter the proxy; `nil` if it does.
  ///   - count: the number of nested proxies so far.
  fileprivate func explanation(
    _ route: MessageRoute, _ path: ProxyChain, _ outer: DeliveryReport.SkipReason?, _ count: inout Int
  ) -> MessageExplanation {
    let (selector, core) = (route.selector, route.core)
    let listing = self as? any LazyTargetListing
    let lazy = listing?.lazyTargets(for: selector) ?? []
    let entries = core.entries(selector, lazy, path, outer, &count)
    return MessageExplanation(
      selector: selector, proxy: listing.map { typeName(of: $0) } ?? core.name, hooks: core.hookNames(selector),
      createsObservers: route.route.prelude?.makesObservers ?? false, entries: entries,
      similarNames: path.isNested || entries.contains { ![.doesNotRespond, .outOfScope].contains($0.reason) }
        ? [] : core.names(like: selector),
      lacksTable: core.table == nil
        && entries.contains {
          $0.reason == .doesNotRespond && !($0.registration.currentTarget.map(core.canAnswer) ?? false)
        })
  }
}

extension MulticastCore {
  fileprivate func hookNames(_ selector: MessageSelector) -> [String] {
    let hooks = state.withLock { $0.rest?.around(selector).hooks ?? [] }
    return hooks.reversed().filter { !$0.isCancelled }.map { hook in
      if hook.finish != nil { return "stream" }
      let kind =
        switch hook.body {
        case .before: "before"
        case .after: "after"
        case .around(_, waiting: _, let name): name ?? "around"
        }
      return "\(kind) \(hook.selector?.name ?? "every message")"
    }
  }

  fileprivate func entries(
    _ selector: MessageSelector, _ lazyTargets: [LazyTarget], _ path: ProxyChain,
    _ outer: DeliveryReport.SkipReason?, _ count: inout Int
  ) -> [MessageExplanation.Entry] {
    var entries: [MessageExplanation.Entry] = []
    let lazyTargets = Dictionary(lazyTargets.map { (ObjectIdentifier($0.slot), $0) }) { $1 }
    for registration in registrations {
      // The budget is charged for each path, since many paths can lead to a nested proxy.
      if (try? ProxyQuestion.charge(.passed)) == nil { break }
      let delivery = registration.queued.map { "\($0.delivery)" } ?? "direct"
      func add(
        _ name: String, _ reason: DeliveryReport.SkipReason?, row: String? = nil, method: Method? = nil,
        nested: MessageExplanation? = nil
      ) {
        let context = method.flatMap { $0.isolation.isSender ? nil : "\(delivery), \($0.isolation.place)" } ?? delivery
        entries.append(
          .init(
            registration: registration, target: name, reason: reason, row: row, context: context, nested: nested))
      }
      if let lazy = lazyTargets[ObjectIdentifier(registration)] {
        let reason = lazy.reason ?? outer
        entries.append(
          .init(
            registration: registration, target: lazy.name, reason: reason,
            row: reason == nil ? "created by the message" : nil, context: "\(lazy.delivery)", nested: nil))
        continue
      }
      guard let target = registration.currentTarget else {
        // A position that is reserved for a lazy target is empty if the target is registered at
        // another position.
        if !registration.keepsSlot { add("a dead target", .dead) }
        continue
      }
      let name = typeName(of: target)
      let obstacle: DeliveryReport.SkipReason? =
        registration.isCancelled
        ? .removed : registration.isMuted ? .muted : registration.isFor(selector) ? nil : .outOfScope
      if let multicast = target as? any MulticastSending {
        let inner = multicast.route(for: selector)
        if let refusal = path.refusal(of: inner, nil, count: count, target) {
          add(name, .init(refusal.code == .proxyCycle ? "a cycle" : "too many nested proxies"))
          continue
        }
        guard StackGuard.hasRoom, (try? ProxyQuestion.charge(.proxy)) != nil else { break }
        count += 1
        let nested = multicast.explanation(
          inner, ProxyChain(inner.core, in: path, by: registration), obstacle ?? outer, &count)
        let isEmpty = nested.receivers.isEmpty && !nested.createsObservers
        add(name, obstacle ?? outer ?? (isEmpty ? .doesNotRespond : nil), row: "its targets", nested: nested)
        continue
      }
      var (row, method) = row(of: target, selector)
      var reason = obstacle ?? (row == nil ? .doesNotRespond : outer)
      if reason == nil, let refused = method as? RefusedMethod { reason = .init("refused: \(refused.reason)") }
      if reason != nil { (row, method) = (nil, nil) }
      add(name, reason, row: row, method: method)
    }
    return entries
  }

  fileprivate func names(like selector: MessageSelector) -> [String] {
    var known = Set(table?.selectors ?? [])
    for target in registrations.lazy.compactMap(\.liveTarget) where known.count < Likeness.candidateLimit {
      if let closure = target as? Method { known.insert(closure.selector) }
      known.formUnion((target as? any MessageReceiver)?.answeredMessages.map(\.selector) ?? [])
    }
    return Likeness.nearest(to: selector.name, among: known.map(\.name))
  }

  private func row(of target: AnyObject, _ selector: MessageSelector) -> (String?, Method?) {
    if let closure = target as? Method { return (closure.selector == selector ? "closure" : nil, closure) }
    if let forwarding = target as? any MessageForwarding {
      if forwarding.waitsForTarget { return ("its target, created first", nil) }
      return (answers(target, selector) ? "forwards it" : nil, nil)
    }
    if let receiver = target as? any MessageReceiver, let method = method(of: receiver, selector) {
      return ("table of \(typeName(of: target))", method)
    }
    guard let method = interfaceMethod(of: target, selector)?.ifImplemented(by: target) else { return (nil, nil) }
    return ("the proxy's table", method)
  }
}

extension MessageForwarding {
  /// True if a query would create a target, because a lazy proxy on the way has no target yet.
  fileprivate var waitsForTarget: Bool {
    var next: AnyObject? = self
    for _ in 0..<maximumHops {
      if let lazy = next as? LazyProxy {
        guard lazy.isMade else { return true }
        next = try? lazy.target()
      } else if let proxy = next as? ForwardingProxy {
        next = proxy.hooks.target
      } else {
        return false
      }
    }
    return false
  }
}

extension MessageExplanation: CustomStringConvertible {
  /// A table with one row per registration; targets of nested proxies are indented.
  public var description: String {
    let count = entries.count
    var lines = [
      "\(selector) of \(proxy), \(entries.count(where: \.receives)) of \(count) registration\(count == 1 ? "" : "s")"
    ]
    lines += facts
    if !similarNames.isEmpty {
      lines.append("did you mean \(similarNames.map { "\"\($0)\"" }.joined(separator: " or "))?")
    }
    if !entries.isEmpty { lines += aligned([["target", "receives", "row or reason", "context"]] + rows("")) }
    return lines.joined(separator: "\n")
  }

  private var facts: [String] {
    (hooks.isEmpty ? [] : ["hooks: \(hooks.joined(separator: ", "))"])
      + (lacksTable ? ["no selector table"] : [])
      + entries.compactMap(\.nested).flatMap { nested in nested.facts.map { "\($0) of \(nested.proxy)" } }
  }

  private func rows(_ indent: String) -> [[String]] {
    entries.flatMap { entry in
      let own = [
        indent + entry.target, entry.receives ? "yes" : "no", entry.reason?.description ?? entry.row ?? "",
        entry.context,
      ]
      return [own] + (entry.nested?.rows(indent + "  ") ?? [])
    }
  }
}
