// TypedParcel.swift: a typed message on its way to another context, in one block of memory.

/// A typed message on its way to all targets of one context, which nobody waits for: what a flood is made of.
///
/// It holds its arguments itself, and calls methods of its sender's types. Whatever is out of the ordinary at the other end (a
/// target that is busy, muted or of another isolation, a method of other types) is left to a ``Parcel``.
@usableFromInline
package class PlainParcel: Envelope, @unchecked Sendable {  // immutable; the arguments may cross
  /// Kept alive as a ``Parcel``'s group is.
  @usableFromInline package unowned(unsafe) let group: DeliveryGroup
  @usableFromInline let functionType: ObjectIdentifier
  /// Calls the method of a step; `false` when the target has died. A function without a context.
  @usableFromInline let call: (PlainParcel, RouteStep) throws -> Bool

  @usableFromInline
  init(
    _ group: DeliveryGroup, _ functionType: ObjectIdentifier, _ call: @escaping (PlainParcel, RouteStep) throws -> Bool
  ) {
    (self.group, self.functionType, self.call) = (group, functionType, call)
    super.init()
  }

  /// The arguments in the form that everything else takes.
  @usableFromInline
  var arguments: MessageArguments { BoxedArguments(Invocation(group.selector)) }

  override func open(in mailbox: Mailbox) -> Int {
    guard group.methodType == functionType, !mailbox.hasClosedGates else {
      return Parcel(group, only: nil, arguments, nil).open(in: mailbox)
    }
    for step in group.steps { group.serve(step) { try call(self, step) } }
    mailbox.noteDeliveries(group.steps.count)
    return group.steps.count
  }
}

/// A parcel with its arguments as they are.
@usableFromInline
final class TypedParcel<R, each A>: PlainParcel, @unchecked Sendable {  // immutable; the arguments may cross
  @usableFromInline let values: Arguments<repeat each A>

  @inlinable
  init(_ group: DeliveryGroup, _ values: Arguments<repeat each A>, returning: R.Type) {
    self.values = values
    super.init(group, ObjectIdentifier(((repeat each A) -> R).self)) { parcel, step in
      let values = unsafeDowncast(parcel, to: TypedParcel<R, repeat each A>.self).values
      return try step.call(values, returning: R.self) != nil
    }
  }

  override var arguments: MessageArguments { TypedArguments(values, returning: R.self, crosses: true) }
}

/// Posts a typed broadcast all of whose targets are on other contexts. `nil`, and nothing done, where it is not so plain.
///
/// The visit keeps the plan: the end of that is what releases its groups, so it comes behind the last post.
@export(implementation) @inline(__always)
func broadcastPosted<R, each A>(
  _ visit: borrowing MessageVisit, _ arguments: Arguments<repeat each A>, returning: R.Type, crosses: Bool
) -> BroadcastSummary? {
  let traits = arguments.traits
  guard crosses || traits.isEmpty, !traits.mayCopy, let plan = visit.plainPlan else { return nil }
  return plan._withUnsafeGuaranteedRef { plan in
    for group in plan.list { group._withUnsafeGuaranteedRef { $0.send(arguments, returning: R.self) } }
    return BroadcastSummary(queued: plan.count)
  }
}
