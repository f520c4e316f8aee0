// MessageError.swift: why nobody answered, or answered wrongly.

/// Why a message was not answered, with the receiver's type, the selector and the evidence.
///
/// The text begins with the name of the rule: `unrecognized selector wash: of Cook`.
public struct MessageError: Error, Hashable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The rule in words, as it begins the error's text.
    public let description: String

    /// Nothing in the receiver's tables or hooks answers the selector.
    public static var unrecognizedSelector: Code { Code(description: "unrecognized selector") }
    /// A class's ``MessageReceiver/resolveMethod(for:)`` said that it had added a method, and no table has one.
    public static var resolverAddedNothing: Code { Code(description: "resolver hook added nothing") }
    /// An argument or a result is of a type that the method, or the sender, cannot take.
    public static var typeMismatch: Code { Code(description: "type mismatch") }
    /// There are not as many arguments, or parameters, as the selector has colons.
    public static var wrongArgumentCount: Code { Code(description: "wrong number of arguments") }
    /// A type encoding could not be read.
    public static var invalidTypeEncoding: Code { Code(description: "invalid type encoding") }
    /// A message that must be answered reached no target.
    public static var nobodyResponds: Code { Code(description: "nobody responds") }
    /// A message that must be answered was sent, to targets whose answers the sender did not wait for.
    public static var notAwaited: Code { Code(description: "answers not waited for") }
    /// The method runs in an isolation that the sender cannot reach from where it is, or an argument may not cross.
    public static var isolationMismatch: Code { Code(description: "isolation mismatch") }
    /// Proxies lead back to a proxy that the message came through.
    public static var proxyCycle: Code { Code(description: "proxy cycle") }
    /// Proxies lie in one another too deeply, or in too many ways.
    public static var tooManyProxies: Code { Code(description: "too many proxies") }
    /// A target has no selector table, nor has its proxy one for it, and it does not forward: no message can reach it.
    public static var noSelectorTable: Code { Code(description: "no selector table") }
    /// A table has a method of that selector already.
    public static var alreadyInTable: Code { Code(description: "already in table") }
    /// Waiting here would wait for ever.
    public static var wouldDeadlock: Code { Code(description: "would deadlock") }
    /// The call of an `around` hook was kept and used after the hook had ended.
    public static var hookEnded: Code { Code(description: "hook has ended") }
    /// Messages that send messages have used up the thread's stack.
    public static var tooDeep: Code { Code(description: "too many levels") }
    /// Not everybody answered in the time that was given.
    public static var timedOut: Code { Code(description: "timed out") }
  }

  /// Which rule was broken. What programs compare: the texts may change.
  public var code: Code { storage.parts.code }
  /// The type of the receiver.
  public var receiver: String { storage.parts.receiver }
  /// The name of the message; a text, since none may have been interned.
  public var selector: String { storage.parts.selector }
  /// What was wanted and what was found, in words; empty where code, receiver and selector say it all.
  public var evidence: String { storage.parts.evidence }
  /// Which argument is meant, counted from 0 as the sender counts; `nil` where none is, or the result.
  public var argumentIndex: Int? { storage.parts.argumentIndex }

  private struct Parts: Hashable, Sendable {
    let code: Code
    let receiver, selector, evidence: String
    let argumentIndex: Int?
  }

  /// One reference, since an error passes through many functions, each of which would copy all its parts.
  private final class Storage: Sendable {
    let parts: Parts
    init(_ parts: Parts) { self.parts = parts }
  }

  private let storage: Storage

  /// Makes an error for a receiver of the library's user, such as an overridden
  /// ``MessageForwarding/doesNotRecognize(_:)``.
  /// The parameters are the properties of these names.
  @inline(never)
  public init(_ code: Code, receiver: String, selector: String, evidence: String = "", argumentIndex: Int? = nil) {
    storage = Storage(
      Parts(code: code, receiver: receiver, selector: selector, evidence: evidence, argumentIndex: argumentIndex))
  }

  public static func == (one: MessageError, other: MessageError) -> Bool { one.storage.parts == other.storage.parts }
  public func hash(into hasher: inout Hasher) { hasher.combine(storage.parts) }

  /// The rule, the selector, the receiver and the evidence.
  public var description: String {
    let words = [code.description, selector, "of \(receiver)"].filter { !$0.isEmpty }
    return words.joined(separator: " ") + (evidence.isEmpty ? "" : ": \(evidence)")
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

  /// - Parameter wanted: `nil` for as many as the selector has colons.
  @inline(never)
  package static func argumentCount(_ selector: MessageSelector, receiver: String, wanted: Int? = nil, found: Int)
    -> MessageError
  {
    MessageError(
      .wrongArgumentCount, receiver: receiver, selector: selector.name,
      evidence: "wanted \(wanted ?? selector.numberOfArguments), found \(found)")
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
  /// The error for a message that found no room.
  @inline(never) package static func tooDeep(_ selector: MessageSelector, receiver: AnyObject) -> MessageError {
    MessageError(.tooDeep, of: receiver, selector, "messages that send messages have used up the thread's stack")
  }
}

/// The name of an object's class, as errors and reports give it.
@inline(never)
package func typeName(of object: AnyObject) -> String {
  if let named = object as? any NamedReceiver { return named.receiverName }
  return "\(type(of: object))"
}

/// A receiver whose Swift class is not what its users call its type, such as an object made by a script.
public protocol NamedReceiver: AnyObject {
  /// What errors and reports call the receiver's type.
  var receiverName: String { get }
}
