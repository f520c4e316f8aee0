// LanguageWords.swift: the words of the language, for the parser and the reference.

enum StatementWord: String, CaseIterable {
  case receiver, `let`, drop, proxy, queue, add, remove, cancel, mute, unmute, before, after, around
  case print, expect, `if`, `repeat`, `return`, `throw`, wait, `extension`, register, unregister, clear
}

/// A word that begins an expression or is part of one.
enum ExpressionWord: String, CaseIterable {
  case new, not, `true`, `false`, `nil`, alive, collect, errors, report, explain, arg, proceed, service, services
}

enum LanguageWords {
  /// Rows of the form `FORM — MEANING`, where the form begins with the word, or `WORD := FORM —
  /// MEANING`. The kinds of ``ScriptLanguage/Kind`` are separated by blank lines.
  static let table = """
    receiver Name [: Parent] { - selector ["encoding"] = e | { … } | throws "text" } — Declares a class; \
    its objects respond to its rows (methods) and to those of its parent.
    let x = e — Binds a name to a value, in place of an earlier value.
    drop x — Forgets a name; an object that nothing else holds is deallocated at once.
    proxy p = multicast [\(words(ProxyOption.self, " "))] | forward to e | lazy { e } | recording e — Makes a proxy for many \
    targets, for one target, for a target that the first message creates, or for a target whose calls it records. Options \
    of a multicast: `strong` retains the targets, `duplicates` lets a target be added twice, `throwing` throws if no target \
    responds, and `stopping` ends a message at the first error.
    queue q — Makes a serial queue for targets.
    add e to p [on q] [priority n] [only @[…]] [as r] — Registers a target with a multicast proxy; higher priorities come \
    first. `only` limits the selectors.
    remove e from p, remove all from p — Removes a target, a registration or all targets from a proxy, immediately.
    cancel r — Cancels a registration or a hook.
    mute r — Withholds messages from a registration until it is unmuted.
    unmute r — Delivers messages to a muted registration again.
    before p "sel:" { … } [as h] — Runs a block before each message of that selector.
    after p "sel:" { … } [as h] — Runs a block after each successful message of that selector; `result` is its answer.
    around p "sel:" { … } [as h] — Runs a block in place of each message of that selector; `proceed` runs the rest of the \
    message.
    print e … — Prints the values, separated by spaces, and a newline.
    expect e [op e], expect e throws ["text"] — Reports a condition that does not hold, or an expression that does not throw; the \
    script continues.
    if e [op e] { … } [else { … }] — Runs one of two blocks; a condition without a comparison must be a Bool.
    repeat n { … } — Runs a block n times.
    return [e] — Ends a row or an `around` hook with an answer, `nil` by default.
    throw "text" — Ends a row or a hook with an error of that text.
    wait — Waits until every queued delivery has run.
    extension E { sel: other:with: } — Declares an extension point by its selectors.
    register e in E, register lazily Name in E — Adds an observer to an extension point. The first message for which a lazy \
    observer has a row creates the observer.
    unregister e from E — Removes an observer from an extension point.
    clear services — Notifies every service and releases those that do not persist.

    new Name [name: e] — Creates an object of a receiver; `name:` sets the value of `name` in the object's rows.
    not e — Negates a Bool.
    true — The Bool value true.
    false — The Bool value false.
    nil — No value; every message to it answers `nil`.
    alive x — Whether the object of a name exists, even if the name was dropped.
    collect \(words(CollectPolicy.self, "|")) [p …] — Sends, waits, and combines the targets' answers into one value.
    errors [p …] — Sends, waits, and returns the error texts of all targets.
    report [p …] — Sends, waits, and counts the targets that ran the message synchronously (`delivered`) or on a queue (`queued`), \
    `failed`, or were `skipped`.
    explain p "sel:" — A text with a line for each registration. The line says which row would run, where, and behind which \
    hooks, or why the target would not receive the message. Nothing is sent.
    arg n — In a hook: argument n of the message, counted from 0.
    proceed [with @[…]] — In `around`: runs the rest of the message, with other arguments if they are given.
    service Name — The shared object of a receiver, created if necessary.
    services — The existing services in the order of their creation.
    responds := e responds "sel:" — Whether an object, a proxy or a value responds to a message.

    count p — The number of live registrations of a multicast proxy, including muted ones.
    targets p — The live targets of a multicast proxy in the order of delivery.
    calls p — The calls that a recording proxy has recorded, as texts.
    signature "v24@0:8@16" — Parses the signature of a method.
    types s — The types of a signature; the return type is first.
    offsets s — The frame offsets of a signature's arguments.
    sizes s — The sizes of a signature's arguments.
    aligns s — The alignments of a signature's arguments.
    frame s — The length of a signature's frame.
    returns s — The length of a signature's return value.
    size "encoding" — The size of a type; `nil` if it has none.
    align "encoding" — The alignment of a type; `nil` if it has none.
    selector "name" — The selector of that name.
    arity "name" — The number of arguments that a selector takes.

    add: := [1 add: 2] — The sum; throws if integers overflow.
    subtract: := [3 subtract: 2] — The difference; throws if integers overflow.
    multiply: := [2 multiply: 3] — The product; throws if integers overflow.
    divide: := [7 divide: 2] — The quotient. For integers: rounded towards zero; throws for division by zero or overflow.
    negated := [1 negated] — The number with its sign changed.
    length := ["text" length] — The number of characters of a text.
    uppercased := ["text" uppercased] — The text in capital letters.
    appending: := ["a" appending: "b"] — The text followed by another.
    count := [@[1, 2] count] — The number of elements of a list.
    at: := [@[1, 2] at: 0] — The element at an index, counted from 0; throws if there is none.
    first := [@[1, 2] first] — The first element; `nil` for an empty list.
    last := [@[1, 2] last] — The last element; `nil` for an empty list.
    adding: := [@[1, 2] adding: 3] — The list with one more element at its end.
    at: := [@{"k": 1} at: "k"] — The value of a key; `nil` for an unknown key.
    count := [@{"k": 1} count] — The number of keys of a dictionary.

    brackets := \(Lexer.bracketLimit) — Nested brackets and nested `name:` parts of `new`.
    sends := \(Run.sendLimit) — Nested sends.
    steps := \(ScriptSession.defaultStepLimit) — Steps of one run, such as statements, sends and hook calls; `--steps N` \
    changes it. The default takes less than 20 seconds of processor time.
    text := \(ScriptLimits().text) — Bytes of a script.
    words := \(ScriptLimits().tokens) — Words, signs and literals of a script.
    marks := \(Work.markLimit) — Consecutive combining marks in a text that is compared or measured. Such a text is limited to \
    1 MiB unless it is ASCII.
    value := \(ScriptValue.sizeLimit) — Bytes of one value.
    copy := \(ScriptValue.copyLimit) — Bytes of a list or dictionary that is sent, returned or printed.
    depth := \(ScriptValue.depthLimit) — Nested lists and dictionaries.
    work := \(ScriptSession.workLimit(forSteps: ScriptSession.defaultStepLimit)) — Units of work in one run with the default \
    `steps`. Each byte of values and output costs units, and so does each proxy or target that a message passes.
    passed := \(ScriptLimits().proxies) — Proxies and hooks that one message passes through.
    looked := \(ScriptLimits().registrations) — Registrations that one message visits or searches, and targets behind a proxy \
    that is an argument. Each counts once more for every eight levels of inheritance.
    selectors := \(ScriptLimits().names) — Selectors that a session can add to those of the process. The selectors of all \
    sessions take at most 16 MiB.
    inheritance := \(World.inheritanceLimit) — Receivers in one chain of inheritance.
    queues := \(World.queueLimit) — Queues of a session.
    holders := \(World.holderLimit) — Proxies of a session that hold proxies strongly.
    """

  static func words<Word: CaseIterable & RawRepresentable<String>>(_: Word.Type, _ separator: String = ", ") -> String {
    Word.allCases.map(\.rawValue).joined(separator: separator)
  }
}
