// MulticastProxy+Testing.swift: what tests may ask about the inside of a proxy.

extension MulticastProxy {
  /// How many slots the target list has, holes and dead targets included.
  package var slotCount: Int { core.slotCount }

  /// How many hooks there are.
  package var hookCount: Int { core.hookCount }

  /// How many streams listen.
  package var listenerCount: Int { core.listenerCount }
}

extension Registration {
  /// How many senders wait for room in the target's buffer.
  package var waitingSenders: Int { queued?.line?.waitingSenders ?? 0 }
}
