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
  /// By the first word of the form. A test finds every word of the parser here.
  static let explained = Dictionary(
    uniqueKeysWithValues: rows(of: table).map { ($0.word, (form: $0.form, meaning: $0.meaning)) })

  /// Reads a table of rows `FORM — MEANING`; the word of a row is the first of its form.
  static func rows(of table: String) -> [(word: String, form: String, meaning: String)] {
    table.split(separator: "\n").map { row in
      let parts = row.split(separator: " — ", maxSplits: 1)
      return ("\(parts[0].prefix { $0 != " " })", "\(parts[0])", "\(parts[1])")
    }
  }

  private static let table = """
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
    """

  static func words<Word: CaseIterable & RawRepresentable<String>>(_: Word.Type, _ separator: String = ", ") -> String {
    Word.allCases.map(\.rawValue).joined(separator: separator)
  }
}
