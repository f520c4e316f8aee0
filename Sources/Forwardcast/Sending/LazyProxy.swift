// LazyProxy.swift: a proxy that makes its target when the first message comes.

/// A proxy that makes its target on the first message or question, exactly once.
///
///     let archive = LazyProxy { try Archive(path: path) }
///     try archive.send(.store, "page")       // the archive is opened here
///     // of a method that is async, or on an actor:
///     let pages = try await archive.sendAndWait(.count)
///
/// A maker that throws makes the message fail with its error, and the next message tries again.
public final class LazyProxy: ForwardingProxy {
  private enum State {
    case waiting(() throws -> any MessageReceiver)
    case making
    case made(any MessageReceiver)
  }

  /// Guarded by nothing: a lazy proxy is not `Sendable` and stays in one isolation.
  private var state: State
  private let isShared: Bool
  /// Why the maker gave no target for the message or question that came last.
  package private(set) var failure: (any Error)?

  /// A proxy for what `make` will give.
  /// - Parameter make: gives the target; called again with the next message when it has thrown.
  public init(_ make: @escaping () throws -> any MessageReceiver) {
    (state, isShared) = (.waiting(make), false)
    super.init()
  }

  /// A proxy for what `make` will give, which methods of other isolations may have. An actor they may have without.
  /// - Parameter make: as in the form for one isolation. It has no trailing form, in which a target that is not `Sendable` would
  ///   be refused.
  @_disfavoredOverload
  public init(sharing make: @escaping () throws -> any MessageReceiver & Sendable) {
    (state, isShared) = (.waiting(make), true)
    super.init()
  }

  override var sharedTarget: AnyObject? {
    if isShared, case .made(let target) = state { target } else { nil }
  }

  /// Whether the target has been made.
  public var isMade: Bool { if case .made = state { true } else { false } }

  /// The target, made now if it was not.
  ///
  /// - Throws: what the maker throws; it is asked again next time. `proxyCycle` when the maker needs this very target.
  public func target() throws -> any MessageReceiver {
    switch state {
    case .made(let target): return target
    case .making:
      throw MessageError(
        .proxyCycle, receiver: typeName(of: self), selector: "", evidence: "its target is needed to make its target")
    case .waiting(let make):
      state = .making
      do {
        let target = try make()
        state = .made(target)
        return target
      } catch {
        state = .waiting(make)
        throw error
      }
    }
  }

  /// The target, made now if it was not; `nil` when its maker throws.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    do {
      failure = nil
      return try target()
    } catch {
      failure = error
      return nil
    }
  }

  /// The types of the message as the target states them; `nil` when its maker has just failed, for it is asked once a
  /// message.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    failure == nil ? super.methodSignature(for: selector) : nil
  }

  /// What the maker threw, or else `unrecognizedSelector`.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    failure.take() ?? super.doesNotRecognize(selector)
  }
}
