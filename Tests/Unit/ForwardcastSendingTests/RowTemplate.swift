// RowTemplate.swift: generates the rows that exist for each number of arguments.

/// One form of a row, for `{words}` arguments.
///
/// `{A}` is each type after the first, `{a}` each value, `{n}` the number; ``text(_:)`` has the
/// others.
enum RowTemplate {
  /// For targets of any type: by key, and by selector with a key made of the closure's types.
  private static let rows = """
      /// A row of {words} whose types are those of its key{as}.{door}
      {inlining}
      public init<R{generics}>(
        to message: Message<{function}>, signature: MethodSignature? = nil,
        _ body: @escaping @Sendable (Target{types}) throws -> R
      ) {
        {body}
      }

      /// A row of {words} whose types are those of its closure.
      {inlining} @_disfavoredOverload
      public init<R{generics}>(
        to selector: MessageSelector, signature: MethodSignature? = nil,
        _ body: @escaping @Sendable (Target{types}) throws -> R
      ) {
        self.init(to: Message<{function}>(selector), signature: signature, body)
      }

      /// As above, where the answer is `Sendable`, so that it may cross in a box.
      {inlining} @_disfavoredOverload
      public init<R: Sendable{generics}>(
        to selector: MessageSelector, signature: MethodSignature? = nil,
        _ body: @escaping @Sendable (Target{types}) throws -> R
      ) {
        self.init(to: Message<{function}>(selector), signature: signature, body)
      }
    """

  /// By key only.
  private static let isolatedRows = """
      /// A row of {words} that runs on the main actor{as}.
      public init<R{generics}>(
        to message: Message<{function}>,
        onMainActor body: @escaping @MainActor @Sendable (Target{types}) throws -> R
      ) {
        self.init(key: message, onGlobalActor: body)
      }

      /// A row of {words} that may suspend{as}.
      public init<R{generics}>(
        to message: Message<{function}>,
        async body: @escaping @Sendable (Target{types}) async throws -> R
      ) {
        self.init(suspending: message, body)
      }
    """

  private static let actorRows = """
      /// A row of {words} that runs on the target, an actor{as}.
      @_disfavoredOverload
      public init<R{generics}>(
        to message: Message<{function}>,
        isolated body: @escaping @Sendable (isolated Target{types}) throws -> R
      ) {
        self.init(onTarget: message, body)
      }
    """

  private static let opener = """
    @usableFromInline
    enum BoxOpener{n}<R{generics}> {
      @export(implementation) @inline(never)
      static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void)
        -> Bool
      {
        guard boxes.count == {n}{opened}
        else { return false }
        Arguments<{parameters}>(values: ({locals})).withCalls(returning: R.self, body)
        return true
      }
    }
    """

  /// The generated file.
  static var file: String {
    """
    // Responds+Arities.swift: the initializers of rows for each number of arguments.

    // Generated: change RowTemplate.swift in the tests and run RowTemplateTests with FORWARDCAST_WRITE=1.
    //
    // Not one form with a pack: the compiler loses there that a parameter is `inout`, and what such a closure writes would be lost
    // silently. Besides, a closure that takes a pack retains and releases each argument on the heap once more for each delivery
    // (5 ns for a string).
    extension Responds {
    \(forms(rows, upTo: 4))

      // Inlined into a form with a prefix before its pack, this crashes the compiler when it optimizes.
      @inline(never)
      init<R, each A>(
        pack message: Message<(repeat each A) -> R>, _ signature: MethodSignature?,
        _ body: @escaping @Sendable (Target, repeat each A) throws -> R
      ) {
        let cast = TargetCast<Target>()
        self.init(
          method: TypedMethod<R, repeat each A>(message, signature: signature) {
            (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
            try cast(target) { try body($0, repeat each arguments.values) }
          })
      }
    }

    // Senders and deliveries in the row's isolation (the main actor, or the actor that is the target) run it synchronously. Waiting
    // forms and deliveries on other contexts hop to it; any other synchronous send throws `isolationMismatch`. A row that may
    // suspend is reached by waiting forms and by deliveries other than `.direct`; until it has ended, its registration's next
    // message waits.
    extension Responds {
    \(forms(isolatedRows, upTo: 4))
    }

    extension Responds where Target: Actor {
    \(forms(actorRows, upTo: 4))
    }

    // Specialized for the types; `TypedMethod.open` works by their metadata, since the compiler does not unroll a pack.

    \(forms(opener, from: 1, upTo: 3))

    """
  }

  private static func forms(_ template: String, from first: Int = 0, upTo last: Int) -> String {
    (first...last).map { form(template, $0) }.joined(separator: "\n\n")
  }

  /// A template for a number of arguments; four stands for four and more.
  private static func form(_ template: String, _ count: Int) -> String {
    let isPack = count == 4
    var names = ["A", "B", "C", "D"].prefix(count).map { String($0) }
    let indices = names.indices.map { count == 1 ? "arguments.values" : "arguments.values.\($0)" }
    let opened = names.indices.map {
      ",\n      let \(names[$0].lowercased()) = try? boxes.opened(\($0), as: \(names[$0]).self)"
    }
    let locals = names.map { $0.lowercased() }.joined(separator: ", ")
    var generics = names
    if isPack {
      names.append("repeat each E")
      generics.append("each E")
    }
    let parameters = names.joined(separator: ", ")
    let list = names.map { ", " + $0 }.joined()
    let opener = count == 0 ? "" : ", opener: BoxOpener\(count)<R\(list)>.open"
    let values = indices.map { ", " + $0 }.joined()
    // A closure that captures only the user's is merged with it, so classes capture no cast.
    let method = { (cast: String) in
      """
      self.init(
              method: TypedMethod<R\(list)>(message, signature: signature\(opener)) {
                (target: AnyObject, \(count == 0 ? "_" : "arguments"): Arguments<\(names.joined(separator: ", "))>) throws -> R in
                try \(cast)(target) { try body($0\(values)) }
              })
      """
    }
    let body =
      isPack
      ? "self.init(pack: message, signature, body)"
      : """
      if Target.self is AnyObject.Type {
            \(method("TargetCast.ofClass"))
          } else {
            let cast = TargetCast<Target>()
            \(method("cast"))
          }
      """
    let inlining = isPack ? "@inline(never)" : "@export(implementation) @inline(__always)"
    let replacements = [
      "words": ["no arguments", "one argument", "two arguments", "three arguments", "four arguments or more"][count],
      "n": "\(count)", "generics": generics.map { ", " + $0 }.joined(), "types": list,
      "parameters": parameters, "function": "(\(parameters)) -> R",
      "opened": opened.joined(), "locals": locals, "body": body, "inlining": inlining,
      "as": count == 0 ? "" : ": see the form for no arguments",
      "door": count == 0 ? door : "",
    ]
    var text = template
    for (name, value) in replacements { text = text.replacing("{\(name)}", with: value) }
    return text
  }

  private static let door = """
     A sender with the same key calls it without boxes.
      ///
      /// `signature` is an encoding that the closure's types are checked against when the row enters a table; by default their own.
    """
}
