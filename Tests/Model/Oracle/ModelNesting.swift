// ModelNesting.swift: what transparency of inner proxies means for the model itself.

extension ModelProxy {
  /// Whether the proxy changes nothing for its targets, beside standing between.
  private var isPlain: Bool {
    silence == .ignored && !hasHandler && targets.allSatisfy { $0.priority == 0 }
  }

  /// The proxy with the targets of plain inner proxies in their place.
  var flattened: ModelProxy {
    var flat = self
    flat.targets = targets.flatMap { target -> [ModelTarget] in
      guard let inner = target.proxy?.flattened else { return [target] }
      guard inner.isPlain, inner.stopsAtFirst == stopsAtFirst, target.condition == .active, target.scope != .other,
        target.place == .direct
      else {
        var changed = target
        changed.kind = .proxy(inner)
        return [changed]
      }
      return inner.targets.map { moved in
        var moved = moved
        moved.priority = target.priority
        return moved
      }
    }
    return flat
  }

  /// For each target the proxy that it stands in.
  var owners: [Int: Int] {
    var owners: [Int: Int] = [:]
    for target in targets {
      owners[target.id] = id
      if let inner = target.proxy { owners.merge(inner.owners) { $1 } }
    }
    return owners
  }
}

extension ModelOutcome {
  /// The outcome as if each call on a queue had been made by the proxy that `owners` names, in the order per proxy.
  func relabelled(_ owners: [Int: Int]) -> ModelOutcome {
    var outcome = self
    outcome.calls = [:]
    for (context, calls) in calls {
      guard let end = context.range(of: " of p") else {
        outcome.calls[context] = calls
        continue
      }
      for call in calls {
        let number = call.split(separator: " ").first.flatMap { Int($0.dropFirst()) } ?? 0
        let target = number > ModelTarget.firstLate ? number - ModelTarget.firstLate : number
        outcome.calls["\(context[..<end.upperBound])\(owners[target] ?? 0)", default: []].append(call)
      }
    }
    return outcome
  }
}
