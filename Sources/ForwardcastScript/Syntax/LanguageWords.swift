// LanguageWords.swift: the words of the language with their forms and meanings; the parser looks here for its words.
// Layer: Script, Syntax. See the article "How the script works".

/// A word of the language, as the reference tells of it.
protocol ExplainedWord: CaseIterable, RawRepresentable<String>, Sendable {
  /// How it is written.
  var form: String { get }
  /// What it does, in one sentence.
  var meaning: String { get }
}

/// A word that begins a statement.
enum StatementWord: String, ExplainedWord {
  case receiver, `let`, drop, proxy, queue, add, remove, cancel, mute, unmute, before, after, around
  case print, expect, `if`, `repeat`, `return`, `throw`, wait, `extension`, register, unregister, clear

  var form: String {
    switch self {
    case .receiver: "receiver Name [: Parent] { - selector [\"encoding\"] = e | { … } | throws \"text\" }"
    case .let: "let x = e"
    case .drop: "drop x"
    case .proxy:
      "proxy p = multicast [\(ProxyDefinition.Option.words)] | forward to e | lazy { e } | recording e"
    case .queue: "queue q"
    case .add: "add e to p [on q] [priority n] [only @[…]] [as r]"
    case .remove: "remove e from p, remove all from p"
    case .cancel: "cancel r"
    case .mute: "mute r"
    case .unmute: "unmute r"
    case .before: "before p \"sel:\" { … } [as h]"
    case .after: "after p \"sel:\" { … } [as h]"
    case .around: "around p \"sel:\" { … } [as h]"
    case .print: "print e …"
    case .expect: "expect e [op e], expect e throws [\"text\"]"
    case .if: "if e [op e] { … } [else { … }]"
    case .repeat: "repeat n { … }"
    case .return: "return [e]"
    case .throw: "throw \"text\""
    case .wait: "wait"
    case .extension: "extension E { sel: other:with: }"
    case .register: "register e in E, register lazily Name in E"
    case .unregister: "unregister e from E"
    case .clear: "clear services"
    }
  }

  var meaning: String {
    switch self {
    case .receiver: "Makes a selector table of its rows; new objects answer by it, and by its parent's rows."
    case .let: "Binds a name, anew if it is bound."
    case .drop: "Forgets a name; an object that nobody else holds dies at once."
    case .proxy: "Makes a proxy: one for many targets, one before a target, or one whose target is made when needed."
    case .queue: "Makes a serial queue, on which targets may be added."
    case .add: "Registers a target with a multicast proxy; higher priorities come first."
    case .remove: "Takes a target, a registration or all of them out of a proxy, at once."
    case .cancel: "Ends a registration."
    case .mute: "Keeps messages from a registration until it is unmuted."
    case .unmute: "Lets messages through again."
    case .before: "Runs a block before each message of that selector."
    case .after: "Runs a block after each message of that selector that succeeded; it knows `result`."
    case .around: "Runs a block in place of each message of that selector; `proceed` runs the rest."
    case .print: "Prints the values with blanks between them, and a newline."
    case .expect: "Reports a condition that does not hold, or an expression that does not throw; the script goes on."
    case .if: "Runs one block or the other; a condition without comparison needs a Bool."
    case .repeat: "Runs a block n times."
    case .return: "Ends a row with its answer, nil unless one is given."
    case .throw: "Ends a row with an error of that text."
    case .wait: "Waits until every queued delivery has run."
    case .extension: "Declares an extension point by its selectors."
    case .register:
      "Adds an observer to an extension point; lazily, it is made by the first event that it has a row for."
    case .unregister: "Takes an observer out of an extension point."
    case .clear: "Logs out: tells every service and lets go of those that do not persist."
    }
  }
}

/// A word that begins an expression, or stands in one.
enum ExpressionWord: String, ExplainedWord {
  case new, not, `true`, `false`, `nil`, alive, collect, errors, report, arg, proceed, service, services

  var form: String {
    switch self {
    case .new: "new Name [name: e]"
    case .not: "not e"
    case .true, .false, .nil: rawValue
    case .alive: "alive x"
    case .collect: "collect \(CollectPolicy.allCases.map(\.rawValue).joined(separator: "|")) [p …]"
    case .errors: "errors [p …]"
    case .report: "report [p …]"
    case .arg: "arg n"
    case .proceed: "proceed [with @[…]]"
    case .service: "service Name"
    case .services: "services"
    }
  }

  var meaning: String {
    switch self {
    case .new: "Makes an object of a receiver; the word `name` in its rows is the name given."
    case .not: "The other truth value."
    case .true, .false: "A truth value."
    case .nil: "Nothing; every message to it answers nil."
    case .alive: "Whether the object that a name means, or meant before it was dropped, is there."
    case .collect: "Sends to every target, waits, and makes one result of the answers."
    case .errors: "Sends, waits, and gives the texts of what the targets threw."
    case .report: "Sends, waits, and counts those that ran it at once, or on a queue, failed, or were passed over."
    case .arg: "In a hook: the n-th argument of the message, from 0."
    case .proceed: "In an `around`: runs the rest of the message, with other arguments when they are given."
    case .service: "The one object of a receiver, made now if it does not live."
    case .services: "The living services in the order of their creation."
    }
  }
}

extension Query: ExplainedWord {
  var form: String {
    switch self {
    case .count, .targets, .calls: "\(rawValue) p"
    case .signature: "signature \"v24@0:8@16\""
    case .types, .offsets, .sizes, .aligns, .frame, .returns: "\(rawValue) s"
    case .size, .align: "\(rawValue) \"encoding\""
    case .selector, .arity: "\(rawValue) \"name\""
    }
  }

  var meaning: String {
    switch self {
    case .count: "How many live registrations a multicast proxy has, muted ones included."
    case .targets: "The live targets of a multicast proxy in the order of delivery."
    case .calls: "The calls that a recording proxy has kept, as texts."
    case .signature: "Reads the signature of a method."
    case .types: "The types of a signature, that of the result first."
    case .offsets: "Where the arguments of a signature lie in its frame."
    case .sizes: "The sizes of the arguments of a signature."
    case .aligns: "The alignments of the arguments of a signature."
    case .frame: "The length of the frame of a signature."
    case .returns: "The length of the value that a method of a signature returns."
    case .size: "The size of a type, nil when it has none."
    case .align: "The alignment of a type, nil when it has none."
    case .selector: "The selector of that name."
    case .arity: "How many arguments a selector takes."
    }
  }
}

extension ProxyDefinition.Option {
  static var words: String { allCases.map(\.rawValue).joined(separator: " ") }
}
