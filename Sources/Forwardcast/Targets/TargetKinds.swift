// TargetKinds.swift: classifies targets by their class.

import Synchronization

/// How a target gets messages of one selector.
enum TargetKind {
  /// A multicast, whose targets get the message.
  case nested
  /// A target that is queried for each message.
  case forwarder
  case method(Method?)
}

/// The kinds of one route's targets. Queried once per class, since a dynamic cast costs more than a
/// delivery. The kind is not cached for closures, values, receivers with their own tables, and
/// refused rows.
struct TargetKinds {
  private struct Known {
    let type: ObjectIdentifier
    /// The receiver type, if objects of the class may have tables of their own.
    let receiver: (any MessageReceiver.Type)?
    let kind: TargetKind
  }

  private let core: MulticastCore
  private let selector: MessageSelector
  /// The first classes queried, at most `limit`. A class that is found again moves to the front.
  private var known: [Known] = []
  private let limit: Int

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

  /// - Returns: the kind, the receiver type, and whether other objects of the class share the kind.
  ///   Objects with their own tables never share it.
  private func ask(_ target: AnyObject) -> (TargetKind, (any MessageReceiver.Type)?, isShared: Bool) {
    switch ClassKind.of(target) {
    case .plain:
      let method = core.interfaceMethod(of: target, selector)
      return (.method(method?.isPresent?(target) ?? true ? method : nil), nil, !(method?.isRefusal ?? false))
    case .receiver:
      return ClassKind.receivers(target) { receiver in
        let method =
          core.method(of: receiver, selector) ?? core.interfaceMethod(of: target, selector)?.ifImplemented(by: target)
        let type = Swift.type(of: receiver)
        let isShared =
          !(method?.isRefusal ?? false) && ownTable(of: receiver, classTable: type.selectorTable.storage) == nil
        return (.method(method), type, isShared)
      }
    case .other:
      if target is Method { return (.method(core.method(of: target, selector)), nil, false) }
      if target is any MulticastSending { return (.nested, nil, !standsForValue(target)) }
      if target is any MessageForwarding { return (.forwarder, nil, true) }
      let method = core.method(of: target, selector)
      return (.method(method), nil, !standsForValue(target) && !(method?.isRefusal ?? false))
    }
  }

  private func hasOwnTable<T: MessageReceiver>(_ target: AnyObject, as type: T.Type) -> Bool {
    // `type` was derived from the class of `target`.
    let receiver = unsafeDowncast(target, to: T.self)
    return ownTable(of: receiver, classTable: T.selectorTable.storage) != nil
  }
}

extension MulticastCore {
  /// The method in a receiver's own tables; a ``RefusedMethod`` for a refused row.
  func method(of receiver: any MessageReceiver, _ selector: MessageSelector) -> Method? {
    do { return try tableMethod(of: receiver, for: selector) } catch { return RefusedMethod(selector, error) }
  }

  func interfaceMethod(of target: AnyObject, _ selector: MessageSelector) -> Method? {
    do { return try table?.storage.method(for: selector, on: target) } catch { return RefusedMethod(selector, error) }
  }

  /// Reports selectors of ``PartialTarget/unimplemented`` that the proxy's table lacks, if it has a
  /// similar selector. Without a similar one, they may be those of another protocol.
  func checkPartial(_ target: AnyObject, _ registration: Registration) {
    guard let table, let partial = target as? any PartialTarget else { return }
    let known = Set(table.selectors)
    for selector in type(of: partial).unimplemented where !known.contains(selector) {
      guard let near = Likeness.nearest(to: selector.name, among: known.map(\.name)).first else { continue }
      let error = MessageError(
        .unrecognizedSelector, of: target, selector,
        "'unimplemented' lists this selector, but the protocol does not have it; did you mean '\(near)'?")
      report(error, selector, registration, receiver: typeName(of: target))
    }
  }
}

/// The kind of a class, found by dynamic casts and cached.
enum ClassKind: UInt {
  /// Neither a receiver nor a forwarder.
  case plain = 1
  /// A receiver that neither forwards nor is a multicast.
  case receiver
  /// Anything else: further casts are needed.
  case other

  static let receivers = TargetCast<any MessageReceiver>()

  /// A cache of some classes. Each word is a class's address, with the kind in the low bits.
  /// Classes with the same index overwrite one another.
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
