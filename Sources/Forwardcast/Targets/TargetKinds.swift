// TargetKinds.swift: what the objects of a class are to a route.

import Synchronization

enum TargetKind {
  /// A multicast, whose targets get the message.
  case nested
  /// A target that is asked each time.
  case forwarder
  case method(Method?)
}

/// The kinds of the targets of one route in the making. Each class is asked once, as far as the class decides, since a dynamic cast
/// costs more than a delivery: not for closures and values, receivers with their own tables, or where an error names the target.
struct TargetKinds {
  private struct Known {
    let type: ObjectIdentifier
    /// The class as receivers, to ask each object for its own table; `nil` where not needed.
    let receiver: (any MessageReceiver.Type)?
    let kind: TargetKind
  }

  private let core: MulticastCore
  private let selector: MessageSelector
  /// The classes met so far; the last one asked for is the first.
  private var known: [Known] = []
  private let limit: Int

  /// - Parameter count: how many targets will be asked for.
  init(_ core: MulticastCore, _ selector: MessageSelector, for count: Int) {
    (self.core, self.selector, limit) = (core, selector, min(count - 1, 8))
  }

  mutating func kind(of target: AnyObject) -> TargetKind {
    let type = ObjectIdentifier(Swift.type(of: target))
    if let place = known.firstIndex(where: { $0.type == type }) {
      if place > 0 { known.swapAt(0, place) }
      guard let receiver = known[0].receiver, hasOwnTable(target, as: receiver) else { return known[0].kind }
      return .method(core.method(of: target, selector))
    }
    let (kind, receiver, isShared) = ask(target)
    if isShared, known.count < limit {
      known.append(Known(type: type, receiver: receiver, kind: kind))
    }
    return kind
  }

  /// - Returns: the target's kind, its class as receivers, and whether all objects of the class without their own tables are the
  ///   same.
  private func ask(_ target: AnyObject) -> (TargetKind, (any MessageReceiver.Type)?, isShared: Bool) {
    switch ClassKind.of(target) {
    case .plain:
      let method = core.interfaceMethod(of: target, selector)
      return (.method(method?.isPresent?(target) ?? true ? method : nil), nil, !(method?.isRefusal ?? false))
    case .receiver:
      return ClassKind.receivers(target) { receiver in
        let method =
          core.method(of: receiver, selector) ?? core.interfaceMethod(of: target, selector)?.unlessLeftOut(by: target)
        let type = Swift.type(of: receiver)
        let isShared =
          !(method?.isRefusal ?? false) && ownTable(of: receiver, classTable: type.selectorTable.storage) == nil
        return (.method(method), type, isShared)
      }
    case .other:
      if target is any MulticastSending { return (.nested, nil, !standsForValue(target)) }
      if target is any MessageForwarding { return (.forwarder, nil, true) }
      let method = core.method(of: target, selector)
      let isOne = target is Method || standsForValue(target)
      return (.method(method), nil, !isOne && !(method?.isRefusal ?? false))
    }
  }

  private func hasOwnTable<T: MessageReceiver>(_ target: AnyObject, as type: T.Type) -> Bool {
    // `type` was taken from the class of `target`.
    let receiver = unsafeDowncast(target, to: T.self)
    return ownTable(of: receiver, classTable: T.selectorTable.storage) != nil
  }
}

extension MulticastCore {
  /// The method in a receiver's own tables; a ``RefusedMethod`` where a row was refused.
  func method(of receiver: any MessageReceiver, _ selector: MessageSelector) -> Method? {
    do { return try tableMethod(of: receiver, for: selector) } catch { return RefusedMethod(selector, error) }
  }

  /// The method in the proxy's table.
  func interfaceMethod(of target: AnyObject, _ selector: MessageSelector) -> Method? {
    do { return try table?.storage.method(for: selector, on: target) } catch { return RefusedMethod(selector, error) }
  }
}

/// What the objects of a class are, as far as the class tells: found by dynamic casts, once for the process.
enum ClassKind: UInt {
  /// Only objects.
  case plain = 1
  /// Receivers that do not forward and are not multicasts.
  case receiver
  /// Anything else: each object is asked.
  case other

  /// Casts objects of the second kind.
  static let receivers = TargetCast<any MessageReceiver>()

  /// A word for each of a few classes: the class's address, and its kind in the address's zero bits. Colliding classes overwrite
  /// one another.
  private static let known = {
    let words = UnsafeMutableBufferPointer<Atomic<UInt>>.allocate(capacity: 256)
    for index in words.indices { words.initializeElement(at: index, to: Atomic(0)) }
    return UncheckedSendable(words)  // never freed, and each word is atomic
  }()
  private static let bits: UInt = 3

  static func of(_ target: AnyObject) -> ClassKind {
    let type = UInt(bitPattern: ObjectIdentifier(Swift.type(of: target)))
    let words = known.value
    let place = Int((type >> 4) % UInt(words.count))
    let word = words[place].load(ordering: .relaxed)
    if word & ~bits == type, let kind = ClassKind(rawValue: word & bits) { return kind }
    let kind = ask(target)
    if type & bits == 0 { words[place].store(type | kind.rawValue, ordering: .relaxed) }
    return kind
  }

  private static func ask(_ target: AnyObject) -> ClassKind {
    if target is any MulticastSending || target is any MessageForwarding || target is Method
      || standsForValue(target)
    {
      return .other
    }
    if target is any MessageReceiver { return .receiver }
    return target is any PartialTarget ? .other : .plain
  }
}
