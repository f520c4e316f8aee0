// LazyProxy.swift: a proxy that makes its target for the first message.

/// A proxy that makes its target on the first message or question, exactly once.
///
///     let archive = LazyProxy { try Archive(path: path) }
///     try archive.send(.store, "page")       // the archive is opened here
///     // for a method that is async, or on an actor:
///     let pages = try await archive.sendAndWait(.count)
///
/// When the maker throws, the message fails with its error, and the next one tries again.
public final class LazyProxy: ForwardingProxy {
  // Unguarded: a lazy proxy is not `Sendable` and stays in one isolation.
  private var made: (any MessageReceiver)?
  /// `nil` while the target is made, and after.
  private var maker: (() throws -> any MessageReceiver)?
  private let isShared: Bool
  /// Why the maker gave no target for the last message or question.
  package private(set) var failure: (any Error)?

  /// A proxy for the target that `make` returns; called again after it has thrown.
  public init(_ make: @escaping () throws -> any MessageReceiver) {
    (maker, isShared) = (make, false)
    super.init()
  }

  /// A proxy for the target that `make` returns, which methods of other isolations may get; an actor they get without this form.
  /// Disfavored, since a trailing closure would otherwise be refused when its target is not `Sendable`.
  @_disfavoredOverload
  public init(sharing make: @escaping () throws -> any MessageReceiver & Sendable) {
    (maker, isShared) = (make, true)
    super.init()
  }

  override var sharedTarget: AnyObject? { isShared ? made : nil }

  /// Whether the target has been made.
  public var isMade: Bool { made != nil }

  /// The target, made now if it was not.
  ///
  /// - Throws: what the maker throws; `proxyCycle` when the maker needs this very target.
  public func target() throws -> any MessageReceiver {
    if let made { return made }
    guard let make = maker.take() else {
      throw MessageError(
        .proxyCycle, receiver: typeName(of: self), selector: "", evidence: "its target is needed to make its target")
    }
    do {
      let target = try make()
      made = target
      return target
    } catch {
      maker = make
      throw error
    }
  }

  /// The target, made now if it was not; `nil` when the maker throws.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    do {
      let target = try target()
      // What asks while the target is made has failed.
      failure = nil
      return target
    } catch {
      failure = error
      return nil
    }
  }

  /// The types that the target states; `nil` when the maker has just failed, since it is called once a message.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    isMade || failure == nil ? super.methodSignature(for: selector) : nil
  }

  /// What the maker threw, else `unrecognizedSelector`.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    failure.take() ?? super.doesNotRecognize(selector)
  }
}
