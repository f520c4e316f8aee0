// TargetKinds.swift: what the objects of a class are to a route, asked once for many of them.
// Layer: Targets. See DESIGN.md, "One walk, two loops".

/// What a target is to a route.
enum TargetKind {
  /// A multicast: its targets get the message.
  case nested
  /// A target that is asked each time.
  case forwarder
  /// A target with that method; `nil` when it has none.
  case method(Method?)
}

/// The kinds of the targets of one route that is being made.
///
/// A dynamic cast costs more than a delivery, so each class is asked once, as far as the class decides: not for closures and
/// values, nor for receivers that have a table of their own, nor where an error is to name the target.
struct TargetKinds {
  /// What is known of all objects of a class.
  private struct Known {
    let type: ObjectIdentifier
    /// How its objects are seen as receivers, to ask each for a table of its own; `nil` where that need not be.
    let receiver: (any MessageReceiver.Type)?
    let kind: TargetKind
  }

  private let core: MulticastCore
  private let selector: MessageSelector
  /// The classes that were met; the one that was asked for last stands first.
  private var known: [Known] = []
  /// How many classes are kept: of further ones each object is asked.
  private static let limit = 8

  init(_ core: MulticastCore, _ selector: MessageSelector) { (self.core, self.selector) = (core, selector) }

  mutating func kind(of target: AnyObject) -> TargetKind {
    let type = ObjectIdentifier(Swift.type(of: target))
    if let place = known.firstIndex(where: { $0.type == type }) {
      if place > 0 { known.swapAt(0, place) }
      guard let receiver = known[0].receiver, hasOwnTable(target, as: receiver) else { return known[0].kind }
      return .method(core.method(of: target, selector))
    }
    let (kind, receiver, isShared) = ask(target)
    if isShared, known.count < TargetKinds.limit {
      known.append(Known(type: type, receiver: receiver, kind: kind))
    }
    return kind
  }

  /// - Returns: what a target is, its class as one of receivers, and whether all objects of the class are that which have no
  ///   table of their own.
  private func ask(_ target: AnyObject) -> (TargetKind, (any MessageReceiver.Type)?, isShared: Bool) {
    if target is any MulticastSending { return (.nested, nil, !standsForValue(target)) }
    let receiver = target as? any MessageReceiver
    if receiver is any MessageForwarding { return (.forwarder, nil, true) }
    let method = core.method(of: target, selector)
    let isShared = !(method?.isRefusal ?? false)
    guard let receiver else {
      return (.method(method), nil, isShared && !(target is ClosureTarget) && !standsForValue(target))
    }
    let type = Swift.type(of: receiver)
    return (.method(method), type, isShared && ownTable(of: receiver, classTable: type.selectorTable.storage) == nil)
  }

  private func hasOwnTable<T: MessageReceiver>(_ target: AnyObject, as type: T.Type) -> Bool {
    // The class of `target` is the one that `type` was taken from.
    let receiver = unsafeDowncast(target, to: T.self)
    return ownTable(of: receiver, classTable: T.selectorTable.storage) != nil
  }
}
