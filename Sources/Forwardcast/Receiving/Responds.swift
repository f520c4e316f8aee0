// Responds.swift: one row of a table, a typed closure made callable with boxes.

/// One row of a selector table: a selector and the closure that answers it.
///
///     // typed by its key:
///     Responds(to: .themesColorChanged) { screen, color in screen.background = color }
///     Responds(to: "progress") { (screen: Screen) in 0.5 }  // typed by its closure
///     // the whole message, by boxes:
///     Responds(to: "note:", signature: types, invocation: { (log: Log, call) in … })
///
/// A closure's parameters are values: arguments are copied for each target, so an `inout` parameter is refused by the
/// compiler. (In closures of four arguments or more it does not see it, and what they write is lost.)
///
/// A row says nothing about being right: the table that it enters checks that the selector takes as many arguments
/// as the closure and that the closure's types are those of a stated encoding.
public struct Responds<Target>: Sendable {
  @usableFromInline let method: Method

  @usableFromInline
  init(method: Method) { self.method = method }

  /// A row that takes the invocation whole: it reads ``Invocation/arguments`` and sets ``Invocation/result``.
  ///
  /// Arguments and result are converted to the types of `signature`, or refused, before and after `body`.
  /// - Parameters:
  ///   - selector: the message.
  ///   - signature: the types that arguments and result are converted to.
  ///   - body: the method.
  public init(
    to selector: MessageSelector, signature: MethodSignature,
    invocation body: @escaping @Sendable (Target, inout Invocation) throws -> Void
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: RawMethod(selector, signature: signature) { target, invocation in
        try cast(target) { try body($0, &invocation) }
      })
  }

  public var selector: MessageSelector { method.selector }

  public var signature: MethodSignature { method.signature }
}
