// Parcel+Suspending.swift: turns of queued targets that do not end on their context, and nested proxies.
// Layer: Outgoing. See DESIGN.md, "Promises of delivery".

extension Parcel {
  /// Serves the targets of a multicast that is delivered on this context: here those that can run here, and afterwards,
  /// one after another, those that run elsewhere. Until all have ended its next message waits.
  func serve(
    _ multicast: any MulticastSending, _ place: Int, _ target: AnyObject, _ message: OutgoingMessage, _ mailbox: Mailbox
  ) {
    if let budget = details?.trail?.budget {
      budget.charging { serve(all: multicast, place, target, message, mailbox) }
    } else {
      serve(all: multicast, place, target, message, mailbox)
    }
  }

  private func serve(
    all multicast: any MulticastSending, _ place: Int, _ target: AnyObject, _ message: OutgoingMessage,
    _ mailbox: Mailbox
  ) {
    let proxy = context(place, target)
    let pending = details?.pending
    let route = multicast.beginMessage(message.selector)
    if let error = RouteNode.refusal(route, in: proxy.proxies, message.trail, count: 0, target) {
      return settle(place, .failed(error), target)
    }
    var walk = Walk(message, along: route, in: proxy.proxies, at: proxy, waiting: .elsewhere(pending))
    walk.deferred = []
    // The slot of the proxy is settled with what its targets gave, or will give. Nothing is thrown for a proxy that has a place
    // in another.
    var children: [Int] = []
    try? walk.serve { outcome, context in
      if let pending {
        if case .queued(let slot) = outcome, slot >= 0 {
          children.append(slot)
        } else {
          children.append(pending.add(outcome, context))
        }
      } else if case .failed(let error) = outcome {
        context.report(error)
      }
      return true
    }
    pending?.settle(slot(place), with: children)
    goOn(with: walk.deferred ?? [], place, mailbox)
  }

  /// Takes up the turns that could not end on this context.
  private func goOn(with deferred: [LateTurn], _ place: Int, _ mailbox: Mailbox) {
    if deferred.isEmpty { return }
    let (sent, pending) = (UncheckedSendable(deferred), details?.pending)
    suspend(mailbox, place) { message in
      for late in sent.value {
        let outcome = await late.attempt.endedAndWaited(&message, for: late.context.registration)
        late.trail?.end()
        if let pending {
          pending.settle(late.slot, outcome ?? .answered(nil), from: late.target)
        } else if case .failed(let error)? = outcome {
          late.context.report(error)
        }
      }
    }
  }

  /// Goes on with a target's turn in a task; the target's next message waits for its end.
  func suspend(
    _ mailbox: Mailbox, _ place: Int, _ body: @escaping @Sendable (inout OutgoingMessage) async -> Void
  ) {
    let registration = group.steps[place].registration.takeUnretainedValue()
    guard let gate = registration.queued?.gate else { return }
    keep(group)
    mailbox.close(gate)
    Task { [self] in
      var message = message
      await SuspendedMethod.run(registration) { await body(&message) }
      mailbox.reopen(gate)
    }
  }
}
