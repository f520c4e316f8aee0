// LazyProxy.swift: a proxy that creates its target on first use.

/// A proxy that creates its target on the first message or query, exactly once.
///
///     let archive = LazyProxy { try Archive(path: path) }
///     try archive.send(.store, "page")  // this opens the archive
///     // for a method that is async, or on an actor:
///     let pages = try await archive.sendAndWait(.count)
///
/// If the closure throws, the message fails with that error. The next message tries again.
public final class LazyProxy: ForwardingProxy {
  // Needs no guard: a lazy proxy is not `Sendable`, so it stays in one isolation.
  private var made: (any MessageReceiver)?
  /// `nil` during and after the creation of the target.
  private var maker: (() throws -> any MessageReceiver)?
  private let isShared: Bool
  /// The closure's error for the last message or query.
  package private(set) var failure: (any Error)?
  /// True after the creation failed in a message's query, until the message's next step.
  private var hasJustFailed = false

  /// Creates a proxy for the result of `make`. If `make` throws, the next message calls it again.
  public init(_ make: @escaping () throws -> any MessageReceiver) {
    (maker, isShared) = (make, false)
    super.init()
  }

  /// Creates a proxy for the result of `make`. Methods in other isolations may use the result. This
  /// initializer is disfavored, so that a trailing closure selects the other initializer.
  @_disfavoredOverload
  public init(sharing make: @escaping () throws -> any MessageReceiver & Sendable) {
    (maker, isShared) = (make, true)
    super.init()
  }

  override var sharedTarget: AnyObject? { isShared ? made : nil }

  /// True if the target was created.
  public var isMade: Bool { made != nil }

  /// The target, created on first use.
  ///
  /// - Throws: the closure's error; `proxyCycle` if the closure sends a message to this proxy.
  public func target() throws -> any MessageReceiver {
    if let made { return made }
    guard let make = maker.take() else {
      throw MessageError(
        .proxyCycle, receiver: typeName(of: self), selector: "",
        evidence: "the closure that creates the target uses the proxy; create the target without the proxy")
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

  /// The target, created on first use; `nil` if the closure throws.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    do {
      let target = try target()
      // An error of an earlier query is obsolete now.
      (failure, hasJustFailed) = (nil, false)
      return target
    } catch {
      (failure, hasJustFailed) = (error, true)
      return nil
    }
  }

  /// True if the target responds to `selector`. Creates the target; false if the creation fails.
  public override func responds(to selector: MessageSelector) -> Bool {
    defer { hasJustFailed = false }
    return super.responds(to: selector)
  }

  /// The target's signature; `nil` if the creation of the target has just failed for this message.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    defer { hasJustFailed = false }
    return hasJustFailed && !isMade ? nil : super.methodSignature(for: selector)
  }

  /// The closure's error if it threw, otherwise `unrecognizedSelector`.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    failure.take() ?? super.doesNotRecognize(selector)
  }
}
