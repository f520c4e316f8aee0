// Attributes.swift: the attributes that write a proxy or a table.

/// Writes a class beside a protocol that *is* the protocol and stands for many targets.
///
///     @Forwarded
///     protocol ThemesDelegate: AnyObject {
///       func themesColorChanged(_ color: Color)
///       func progress(of item: String) throws -> Double
///       @Answer(.every) func mayClose() -> Bool
///     }
///     let themes = ThemesDelegateProxy()
///     themes.add(home)  // any ThemesDelegate: no table, no key
///     themes.themesColorChanged(.red)  // every target, in order
///     // many answers, one result:
///     let total = try themes.progress(of: "logo", returning: .sum)
///
/// The class holds a ``MulticastProxy`` in `multicast` and offers its members: see ``MulticastFacade``. Keys for `on`,
/// `broadcast` and `collect` are in `ThemesDelegateProxy.Messages`, named like the requirements. Selectors are those of
/// ``MessageSelector/init(swiftName:)``, or what ``Message(_:)`` says.
///
/// A requirement without a result is sent to all targets; one with a result makes one of all answers, as `@Answer(_:otherwise:)`
/// says. What cannot be carried is refused where it stands, with the reason.
///
/// - Parameters:
///   - protocols: the protocols with this attribute that this one refines: `@Forwarded(inheriting: (any A).self)` on
///     `protocol B: A`. Without it their requirements are to be written again: see <doc:RealDelegates>.
///   - protocol: another protocol that the written class is to be, of which this one is a copy:
///     `@Forwarded(as: (any StreamDelegate).self)`.
///   - base: a superclass of the written class. It need not be said where the protocol refines a class or `NSObjectProtocol`.
///   - actor: the global actor that the protocol or some of its members are on, where its name does not end in `Actor`:
///     `@Forwarded(isolatedTo: Audio.self)`.
///   - silence: what stands for answers that nobody gives, where a requirement says nothing itself.
@attached(peer, names: suffixed(Proxy), suffixed(ProxyNamespace))
@attached(extension, names: arbitrary)
public macro Forwarded(
  inheriting protocols: Any.Type..., as protocol: Any.Type? = nil, base: AnyObject.Type? = nil,
  isolatedTo actor: Any.Type? = nil, otherwise silence: SilentAnswers = .refused
) = #externalMacro(module: "ForwardcastMacros", type: "Forwarded")

/// Names the selector of a requirement or of a receiver's method, or makes a member a receiver's method.
///
///     @Message("select:or:") func choose(_ a: Int, _ b: Int)
///
/// A property's getter has the name itself, its setter the same after `set`.
///
/// - Parameter selector: a literal; without one, the selector of the Swift name.
@attached(peer)
public macro Message(_ selector: StaticString = "") = #externalMacro(module: "ForwardcastMacros", type: "Message")

/// Says what many answers to a requirement become, and what stands for them when nobody answers.
///
///     @Answer(.every) func mayClose() -> Bool
///     @Answer(.last, otherwise: "untitled") var title: String { get }
///
/// - Parameters:
///   - rule: how answers become one; `.last` where nothing is said.
///   - value: the result when nobody answers, here `nil`, `[]` or `[:]`. Without it that is `nil` for an optional, the rule's empty
///     value (`true` for `.every`, 0 for `.sum`), or the error `nobodyResponds` where the requirement throws any error.
@attached(peer)
public macro Answer(_ rule: AnswerRule = .last, otherwise value: NoAnswer = nil) =
  #externalMacro(module: "ForwardcastMacros", type: "Answer")

/// Says what stands for nobody's answer: any value, by a leading dot where the type of the answer is stated.
///
///     @Answer<Decision>(otherwise: .allow) func decide() -> Decision
///
/// - Parameters:
///   - rule: how answers become one.
///   - value: the result when nobody answers.
@attached(peer)
public macro Answer<Value>(_ rule: AnswerRule = .last, otherwise value: Value) =
  #externalMacro(module: "ForwardcastMacros", type: "Answer")

/// Leaves a requirement of a protocol with `@Forwarded` to the program: it is no message, and an extension of the written class
/// has it.
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

/// Writes the selector table of a class or an actor and its conformance to ``MessageReceiver``.
///
///     @Receiver
///     final class Console {
///       @Message func restart(_ delay: Int) -> Bool { … }     // "restart:"
///       @Message("volume") var loudness: Int = 3  // "volume" and "setVolume:"
///     }
///
/// Members on the main actor, members of an actor and members that suspend get the rows that their isolation needs.
///
/// - Parameters:
///   - members: which members are messages: those marked ``Message(_:)``, or all that are not private or fileprivate.
///   - base: the superclass whose table this one continues, itself a receiver: `@Receiver(inheriting: Base.self)`.
///   - actor: the global actor that the class or some of its members are on, where its name does not end in `Actor`.
@attached(member, names: named(selectorTable), named(ReceiverTable))
@attached(extension, conformances: MessageReceiver)
public macro Receiver(
  _ members: ReceiverMembers = .markedMembers, inheriting base: AnyObject.Type? = nil, isolatedTo actor: Any.Type? = nil
) =
  #externalMacro(module: "ForwardcastMacros", type: "Receiver")
