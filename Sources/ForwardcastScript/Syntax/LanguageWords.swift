// LanguageWords.swift: the words of the language, as the parser reads them and the reference explains them.

enum StatementWord: String, CaseIterable {
  case receiver, `let`, drop, proxy, queue, add, remove, cancel, mute, unmute, before, after, around
  case print, expect, `if`, `repeat`, `return`, `throw`, wait, `extension`, register, unregister, clear
}

/// A word that begins an expression or is part of one.
enum ExpressionWord: String, CaseIterable {
  case new, not, `true`, `false`, `nil`, alive, collect, errors, report, arg, proceed, service, services
}

enum LanguageWords {
  /// For each kind of word the rows `FORM — MEANING`, whose form begins with the word, or `WORD := FORM — MEANING`.
  static let table = """
    receiver Name [: Parent] { - selector ["encoding"] = e | { … } | throws "text" } — Makes a selector table of its rows; new \
    objects answer by it, and by its parent's rows.
    let x = e — Binds a name, anew if it is bound.
    drop x — Forgets a name; an object that nobody else holds dies at once.
    proxy p = multicast [\(words(ProxyOption.self, " "))] | forward to e | lazy { e } | recording e — Makes a \
    proxy: one for many targets, one before a target, or one whose target is made when needed.
    queue q — Makes a serial queue, on which targets may be added.
    add e to p [on q] [priority n] [only @[…]] [as r] — Registers a target with a multicast proxy; higher priorities come first.
    remove e from p, remove all from p — Takes a target, a registration or all of them out of a proxy, at once.
    cancel r — Ends a registration.
    mute r — Keeps messages from a registration until it is unmuted.
    unmute r — Lets messages through again.
    before p "sel:" { … } [as h] — Runs a block before each message of that selector.
    after p "sel:" { … } [as h] — Runs a block after each message of that selector that succeeded; it knows `result`.
    around p "sel:" { … } [as h] — Runs a block in place of each message of that selector; `proceed` runs the rest.
    print e … — Prints the values with blanks between them, and a newline.
    expect e [op e], expect e throws ["text"] — Reports a condition that does not hold, or an expression that does not throw; \
    the script goes on.
    if e [op e] { … } [else { … }] — Runs one block or the other; a condition without comparison needs a Bool.
    repeat n { … } — Runs a block n times.
    return [e] — Ends a row with its answer, nil unless one is given.
    throw "text" — Ends a row with an error of that text.
    wait — Waits until every queued delivery has run.
    extension E { sel: other:with: } — Declares an extension point by its selectors.
    register e in E, register lazily Name in E — Adds an observer to an extension point; lazily, it is made by the first event \
    that it has a row for.
    unregister e from E — Takes an observer out of an extension point.
    clear services — Logs out: tells every service and releases those that do not persist.

    new Name [name: e] — Makes an object of a receiver; the word `name` in its rows is the name given.
    not e — The other truth value.
    true — A truth value.
    false — A truth value.
    nil — Nothing; every message to it answers nil.
    alive x — Whether the object that a name means, or meant before it was dropped, is there.
    collect \(words(CollectPolicy.self, "|")) [p …] — Sends to every target, waits, and makes one result of the answers.
    errors [p …] — Sends, waits, and gives the texts of what the targets threw.
    report [p …] — Sends, waits, and counts those that ran it at once, or on a queue, failed, or were passed over.
    arg n — In a hook: the n-th argument of the message, from 0.
    proceed [with @[…]] — In an `around`: runs the rest of the message, with other arguments when they are given.
    service Name — The one object of a receiver, made now if it does not live.
    services — The living services in the order of their creation.
    responds := p responds "sel:" — Whether an object, a proxy or a value would answer a message.

    count p — How many live registrations a multicast proxy has, muted ones included.
    targets p — The live targets of a multicast proxy in the order of delivery.
    calls p — The calls that a recording proxy has kept, as texts.
    signature "v24@0:8@16" — Reads the signature of a method.
    types s — The types of a signature, that of the result first.
    offsets s — Where the arguments of a signature lie in its frame.
    sizes s — The sizes of the arguments of a signature.
    aligns s — The alignments of the arguments of a signature.
    frame s — The length of the frame of a signature.
    returns s — The length of the value that a method of a signature returns.
    size "encoding" — The size of a type, nil when it has none.
    align "encoding" — The alignment of a type, nil when it has none.
    selector "name" — The selector of that name.
    arity "name" — How many arguments a selector takes.

    add: := [1 add: 2] — The sum; an overflow of integers is an error.
    subtract: := [3 subtract: 2] — The difference; an overflow of integers is an error.
    multiply: := [2 multiply: 3] — The product; an overflow of integers is an error.
    divide: := [7 divide: 2] — The quotient, of integers towards zero; division by zero is an error.
    negated := [1 negated] — The number with the other sign.
    length := ["text" length] — How many characters a text has.
    uppercased := ["text" uppercased] — The text in capitals.
    appending: := ["a" appending: "b"] — The text with another behind it.
    count := [@[1, 2] count] — How many elements a list has.
    at: := [@[1, 2] at: 0] — The element of that index, from 0; outside is an error.
    first := [@[1, 2] first] — The first element, nil where there is none.
    last := [@[1, 2] last] — The last element, nil where there is none.
    adding: := [@[1, 2] adding: 3] — The list with one more element.
    at: := [@{"k": 1} at: "k"] — The value of a key, nil where there is none.
    count := [@{"k": 1} count] — How many keys a dictionary has.

    brackets := \(Lexer.bracketLimit) — Brackets, and names given in `new`, that may be open in one another.
    sends := \(Run.sendLimit) — Sends in progress.
    steps := \(ScriptSession.defaultStepLimit) — Statements and sends of one run; `--steps N`. So many take less than 20 seconds \
    of processor time.
    text := \(ScriptLimits().text) — Bytes of text that are read.
    words := \(ScriptLimits().tokens) — Words, signs and literals in one text.
    marks := \(Work.markLimit) — Combining marks in a row of a text that is compared, or asked for its length; one that is not \
    ASCII has at most 1 MiB then.
    value := \(ScriptValue.sizeLimit) — Bytes of one value.
    copy := \(ScriptValue.copyLimit) — Bytes of a list or dictionary that a message takes or answers, or that is printed.
    depth := \(ScriptValue.depthLimit) — Lists and dictionaries inside one another.
    work := \(ScriptSession.workLimit(forSteps: ScriptSession.defaultStepLimit)) — Units of work of one run of a million steps: \
    bytes of values and output, proxies and targets that messages pass.
    passed := \(ScriptLimits().proxies) — Proxies and hooks that one message passes.
    looked := \(ScriptLimits().registrations) — Registrations that one message passes by, or that are looked at to find who \
    gets it; where receivers inherit, each counts once more for eight. Targets that a proxy in a message leads to.
    selectors := \(ScriptLimits().names) — Selectors that a session may add to those of the process; all sessions together 16 MiB \
    of them.
    inheritance := \(World.inheritanceLimit) — Receivers that inherit from one another.
    queues := \(World.queueLimit) — Queues of a session.
    holders := \(World.holderLimit) — Proxies of a session that hold proxies strongly.
    """

  static func words<Word: CaseIterable & RawRepresentable<String>>(_: Word.Type, _ separator: String = ", ") -> String {
    Word.allCases.map(\.rawValue).joined(separator: separator)
  }
}
