// Responds.swift: one row of a selector table.

/// One row of a selector table: a selector and the closure that answers it.
///
///     // typed by its key:
///     Responds(to: .themesColorChanged) { screen, color in screen.background = color }
///     Responds(to: "progress") { (screen: Screen) in 0.5 }  // typed by its closure
///     // the whole message, in boxes:
///     Responds(to: "note:", signature: types, invocation: { (log: Log, call) in … })
///
/// The row's table checks the number of arguments and the types. `inout` parameters are refused. In
/// closures of four arguments or more, `inout` is not detected, and writes are lost.
public struct Responds<Target>: Sendable {
  @usableFromInline let method: Method

  @usableFromInline
  init(method: Method) { self.method = method }

  /// A row whose closure takes the invocation: `body` reads ``Invocation/arguments`` and sets
  /// ``Invocation/result``. Arguments and result are converted to the types of `signature`.
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

  /// The message that the row answers.
  public var selector: MessageSelector { method.selector }

  /// The stated types; without a stated signature, the types of the closure.
  public var signature: MethodSignature { method.signature }
}
