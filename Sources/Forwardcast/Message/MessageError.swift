// MessageError.swift: the reason why a message has no answer.

/// The reason why a message has no answer, for example `unrecognized selector 'wash:' of Cook`.
public struct MessageError: Error, Hashable, CustomStringConvertible {
  /// The kind of error. More kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The kind in words, the start of the error's text.
    public let description: String
    /// The fix for all errors of this kind; `nil` if the evidence names the fix.
    package var cure: String?

    /// Neither the receiver's tables, nor its resolver hook, nor forwarding answers the selector.
    public static var unrecognizedSelector: Code { Code(description: "unrecognized selector") }
    /// A class's resolver hook claimed to add a method, but no table has the method.
    public static var resolverAddedNothing: Code {
      Code(description: "resolver hook added nothing", cure: "add the method to a table, or return false")
    }
    /// An argument or result cannot be converted to the expected type, or a table is for another
    /// type.
    public static var typeMismatch: Code { Code(description: "type mismatch") }
    /// The number of arguments or parameters is not the selector's number of colons.
    public static var wrongArgumentCount: Code { Code(description: "wrong number of arguments") }
    /// A type encoding is invalid.
    public static var invalidTypeEncoding: Code { Code(description: "invalid type encoding") }
    /// No target answered a message that needs an answer.
    public static var nobodyResponds: Code { Code(description: "nobody responds") }
    /// Every target that could answer is queued and not awaited, or has a full buffer.
    public static var notAwaited: Code { Code(description: "answers not waited for") }
    /// The sender is not in the method's isolation, or a value may not cross isolations.
    public static var isolationMismatch: Code { Code(description: "isolation mismatch") }
    /// The message came back to a proxy that it already passed.
    public static var proxyCycle: Code { Code(description: "proxy cycle") }
    /// Proxies are nested too deeply, or reachable along too many paths.
    public static var tooManyProxies: Code { Code(description: "too many proxies", cure: "nest fewer proxies") }
    /// A target does not forward, and neither its class nor its proxy has a selector table.
    public static var noSelectorTable: Code {
      Code(description: "no selector table", cure: "write '@Receiver' on its class, or give the proxy a table")
    }
    /// The table already has a method for the selector.
    public static var alreadyInTable: Code {
      Code(description: "already in table", cure: "remove one of the two rows, or call 'replace' with the new one")
    }
    /// The wait would never end.
    public static var wouldDeadlock: Code {
      Code(
        description: "would deadlock", cure: "make this call from another queue or task, or do not wait for its answer")
    }
    /// The `call` of an `around` hook was used after the hook had returned, or twice at once.
    public static var hookEnded: Code {
      Code(
        description: "invalid use of call",
        cure: "end each 'proceed' before the next one begins and before the hook returns"
      )
    }
    /// Nested messages have exhausted the thread's stack, or a message was forwarded too often.
    public static var tooDeep: Code { Code(description: "too many levels") }
    /// Some answers did not arrive in time.
    public static var timedOut: Code { Code(description: "timed out") }
    /// The sender's task was canceled after the message had reached some targets.
    public static var cancelled: Code { Code(description: "canceled") }

    /// What links the kind and the selector in the error's text.
    fileprivate var link: String {
      switch self {
      case .unrecognizedSelector: ""
      case .nobodyResponds: " to"
      case .wrongArgumentCount, .resolverAddedNothing, .noSelectorTable, .tooManyProxies: " for"
      case .notAwaited, .alreadyInTable, .wouldDeadlock, .timedOut, .cancelled: ":"
      default: " in"
      }
    }
  }

  /// The kind of error. Compare kinds, not texts, because the texts may change.
  public var code: Code { parts.code }
  /// The type of the receiver.
  public var receiver: String { parts.receiver }
  /// The name of the message. It is a string, because the selector might not be interned.
  public var selector: String { parts.selector }
  /// The evidence, such as wanted and found types; can be empty.
  public var evidence: String { parts.evidence }
  /// The index of the affected argument, from 0; `nil` if the error affects no argument.
  public var argumentIndex: Int? { parts.argumentIndex }

  private struct Parts: Hashable, Sendable {
    let code: Code
    let receiver, selector, evidence: String
    let argumentIndex: Int?
  }

  /// One reference, since every function that rethrows an error copies it.
  private indirect enum Storage: Hashable, Sendable { case parts(Parts) }

  private let storage: Storage
  private var parts: Parts {
    switch storage {
    case .parts(let parts): parts
    }
  }

  /// Creates an error for your own receiver, see ``MessageForwarding/doesNotRecognize(_:)``.
  @inline(never)
  public init(_ code: Code, receiver: String, selector: String, evidence: String = "", argumentIndex: Int? = nil) {
    storage = .parts(
      Parts(code: code, receiver: receiver, selector: selector, evidence: evidence, argumentIndex: argumentIndex))
  }

  /// Code, selector, receiver, evidence and cure.
  public var description: String {
    let name = selector.isEmpty ? "" : "\(code.link) '\(selector)'"
    let details = [evidence, code.cure ?? ""].filter { !$0.isEmpty }.joined(separator: "; ")
    return "\(code)\(name) of \(receiver)" + (details.isEmpty ? "" : ": \(details)")
  }
}

extension MessageError {
  @inline(never)
  init(_ code: Code, of receiver: AnyObject, _ selector: MessageSelector, _ evidence: String = "", argument: Int? = nil)
  {
    self.init(
      code, receiver: typeName(of: receiver), selector: selector.name, evidence: evidence, argumentIndex: argument)
  }

  package static func unrecognized(_ selector: MessageSelector, by receiver: AnyObject) -> MessageError {
    MessageError(.unrecognizedSelector, of: receiver, selector)
  }

  @inline(never)
  package static func argumentCount(_ selector: MessageSelector, receiver: String, wanted: Int? = nil, found: Int)
    -> MessageError
  {
    MessageError(
      .wrongArgumentCount, receiver: receiver, selector: selector.name,
      evidence: "wanted \(wanted ?? selector.numberOfArguments), found \(found)")
  }

  /// The error of a declaration, such as a row, whose number of parameters is not the selector's.
  @inline(never)
  static func parameterCount(_ selector: MessageSelector, receiver: String, _ declaration: String, found: Int)
    -> MessageError
  {
    MessageError(
      .wrongArgumentCount, receiver: receiver, selector: selector.name,
      evidence: "\(declaration) takes \(found), but the selector takes \(selector.numberOfArguments)")
  }

  @inline(never)
  package static func argument(_ index: Int, _ selector: MessageSelector, receiver: String, _ error: UnboxingError)
    -> MessageError
  {
    MessageError(
      .typeMismatch, receiver: receiver, selector: selector.name, evidence: "argument \(index): \(error)",
      argumentIndex: index)
  }

  @inline(never)
  package static func result(_ selector: MessageSelector, receiver: String, _ error: UnboxingError) -> MessageError {
    MessageError(.typeMismatch, receiver: receiver, selector: selector.name, evidence: "result: \(error)")
  }
}

extension StackGuard {
  @inline(never) package static func tooDeep(_ selector: MessageSelector, receiver: AnyObject) -> MessageError {
    MessageError(
      .tooDeep, of: receiver, selector,
      "nested messages have exhausted the thread's stack; send the inner messages from a queue or a task")
  }
}

/// The name of an object's class in errors and reports.
@inline(never)
package func typeName(of object: AnyObject) -> String {
  if let named = object as? any NamedReceiver { return named.receiverName }
  return writtenName(of: type(of: object))
}

/// The name of a type as it is written: `any Function<Int, Int>`. The runtime's name also has the
/// associated types: `any Function<Self.Function.Input == Int, Self.Function.Output == Int>`.
package func writtenName(of type: any Any.Type) -> String {
  let name = String(describing: type)
  guard name.utf8.contains(UInt8(ascii: "=")) else { return name }
  let parts = name.split(separator: " == ")
  let cut = parts.dropLast().map { part in part.ranges(of: "Self.").last.map { part[..<$0.lowerBound] } ?? part }
  return (cut + parts.suffix(1)).joined()
}

/// A receiver with a user-visible type name of its own, such as an object made by a script.
public protocol NamedReceiver: AnyObject {
  /// The name of the receiver's type in errors and reports.
  var receiverName: String { get }
}
