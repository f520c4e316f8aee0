// Attributes.swift: the attributes that generate proxies and tables.

/// Generates a class that conforms to a protocol and forwards each call to many targets.
///
///     @Forwarded
///     protocol ThemesDelegate: AnyObject {
///       func themesColorChanged(_ color: String)
///       func progress(of item: String) throws -> Double
///       @Answer(.every) func mayClose() -> Bool
///     }
///     let themes = ThemesDelegateProxy()
///     themes.add(home)  // any object that conforms to ThemesDelegate
///     themes.themesColorChanged("red")  // every target, in order
///     // many results become one:
///     let total = try themes.progress(of: "logo", returning: .sum)
///
/// The class has a ``MulticastProxy`` in `multicast`, and the members of that proxy, see
/// ``MulticastFacade``. `ThemesDelegateProxy.Messages` has a key for each requirement. A key has
/// the requirement's full name, such as `progressOf`. If only one requirement has the base name
/// `progress`, its key has this short name too. Selectors are derived from Swift names, see
/// ``MessageSelector/init(swiftName:)``, or set by ``Message(_:)``.
///
/// A requirement without a result is sent to all targets. If a requirement has a result,
/// `@Answer(_:otherwise:)` sets how the results are combined. A requirement that cannot be
/// forwarded is a compile-time error that names a fix.
///
/// - Parameters:
///   - protocols: refined protocols that have this attribute too: `@Forwarded(inheriting: (any
///     A).self)` on `protocol B: A`. Repeat the requirements of other refined protocols in `B`: see
///     the page *Forwarding Existing Protocols*.
///   - protocol: an existing protocol that the generated class conforms to and whose requirements
///     the annotated protocol repeats: `@Forwarded(as: (any StreamDelegate).self)`.
///   - base: the superclass of the generated class. Not needed if the protocol refines a class or
///     `NSObjectProtocol`.
///   - actor: the global actor of the protocol or of some members. Needed only if the actor's name
///     does not end in `Actor`: `@Forwarded(isolatedTo: Audio.self)`.
///   - silence: what requirements without `@Answer` return if no target responds.
@attached(peer, names: suffixed(Proxy), suffixed(ProxyNamespace))
@attached(extension, names: arbitrary)
public macro Forwarded(
  inheriting protocols: Any.Type..., as protocol: Any.Type? = nil, base: AnyObject.Type? = nil,
  isolatedTo actor: Any.Type? = nil, otherwise silence: SilentAnswers = .refused
) = #externalMacro(module: "ForwardcastMacros", type: "Forwarded")

/// Sets a message's selector. In a `@Receiver` class, also marks the member as a message.
///
///     @Message("select:or:") func choose(_ a: Int, _ b: Int)
///
/// A property's getter has this selector. The setter's selector adds `set`, as in `setVolume:`.
///
/// - Parameter selector: a literal. By default the selector is derived from the Swift name.
@attached(peer)
public macro Message(_ selector: StaticString = "") = #externalMacro(module: "ForwardcastMacros", type: "Message")

/// Combines the results of a requirement, and sets the result if no target responds.
///
///     @Answer(.every) func mayClose() -> Bool
///     @Answer(.last, otherwise: "untitled") var title: String { get }
///
/// - Parameter value: the result if no target responds: `nil`, `[]` or `[:]`. The default is `nil`
///   for an optional result, otherwise the rule's empty value (`true` for `.every`, 0 for `.sum`).
///   If the rule has no empty value, a requirement with untyped `throws` throws `nobodyResponds`.
@attached(peer)
public macro Answer(_ rule: AnswerRule = .last, otherwise value: NoAnswer = nil) =
  #externalMacro(module: "ForwardcastMacros", type: "Answer")

/// Combines the results of a requirement; `value` is the result if no target responds. If `value`
/// begins with a dot, state its type:
///
///     @Answer<Decision>(otherwise: .allow) func decide() -> Decision
@attached(peer)
public macro Answer<Value>(_ rule: AnswerRule = .last, otherwise value: Value) =
  #externalMacro(module: "ForwardcastMacros", type: "Answer")

/// Marks a requirement that is not forwarded. Implement it in an extension of the proxy.
///
///     @Forwarded
///     protocol StoreDelegate: AnyObject {
///       func saved(_ id: Int)
///       @NotForwarded func merge<Value>(_ value: inout Value)
///     }
///     extension StoreDelegateProxy {
///       func merge<Value>(_ value: inout Value) {
///         for target in multicast.targets { target.merge(&value) }
///       }
///     }
@attached(peer)
public macro NotForwarded() = #externalMacro(module: "ForwardcastMacros", type: "NotForwarded")

/// Generates a class's or actor's selector table, keys and conformance to ``MessageReceiver``.
///
///     @Receiver
///     final class Console {
///       @Message func restart(_ delay: Int) -> Bool { … }  // "restart:"
///       @Message("volume") var loudness: Int = 3  // "volume" and "setVolume:"
///     }
///
/// The keys of non-private members are in `Messages`: `console.send(Console.Messages.restart, 3)`.
/// Isolated and `async` members stay isolated and `async`. A class that inherits its isolation must
/// state it: `@MainActor @Receiver final class Screen: UIViewController`.
///
/// - Parameters:
///   - base: the superclass, which must be a receiver too: `@Receiver(inheriting: Base.self)`.
///   - actor: the global actor of the class or of its members. Needed only if the actor's name does
///     not end in `Actor`.
@attached(member, names: named(selectorTable), named(ReceiverTable), named(Messages))
@attached(extension, conformances: MessageReceiver)
public macro Receiver(
  _ members: ReceiverMembers = .markedMembers, inheriting base: AnyObject.Type? = nil, isolatedTo actor: Any.Type? = nil
) =
  #externalMacro(module: "ForwardcastMacros", type: "Receiver")

/// Refuses a function value that is not `Sendable`, with an error at the call (in Swift 5 mode, a
/// warning). This macro is a default argument of overloads. The compiler selects these overloads
/// only for function values that are not `Sendable`.
@freestanding(expression)
public macro closureMustBeSendable() -> (any Actor)? =
  #externalMacro(module: "ForwardcastMacros", type: "ClosureMustBeSendable")
