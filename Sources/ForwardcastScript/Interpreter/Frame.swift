// Frame.swift: the names in scope while a method or a script runs.

enum Binding: Sendable {
  case value(ScriptValue)
  /// The name was dropped. `alive` needs a weak reference to the name's object.
  case dropped(WeakObject)

  var afterDrop: Binding {
    switch self {
    case .value(.object(let reference)): .dropped(WeakObject(reference.receiver))
    case .value(.registration(let registration)): .dropped(WeakObject(registration))
    case .value(.hook(let hook)): .dropped(WeakObject(hook))
    case .value: .dropped(WeakObject(nil))
    case .dropped: self
    }
  }
}

struct WeakObject: @unchecked Sendable {  // weak references are synchronized; users of `object` ensure its isolation
  weak var object: AnyObject?
  init(_ object: AnyObject?) { self.object = object }
}

/// One activation of a method, a hook or a script, on one thread.
final class Frame {
  let source: SourceText
  /// The object whose method runs or has created the running hook or lazy proxy; else `nil`.
  let object: ScriptObject?
  let depth: Int
  /// The scopes of the method and its blocks, innermost last; empty at the top level.
  private var scopes: [[String: Binding]]
  /// The hook whose block runs; `nil` for a method or a script.
  var hook: HookRun?

  init(source: SourceText, object: ScriptObject? = nil, depth: Int, scopes: [[String: Binding]] = []) {
    (self.source, self.object, self.depth, self.scopes) = (source, object, depth, scopes)
  }

  /// A copy of the names, for code that runs later.
  func copy(depth: Int) -> Frame { Frame(source: source, object: object, depth: depth, scopes: scopes) }

  func enterBlock() { scopes.append([:]) }
  func leaveBlock() { scopes.removeLast() }

  var blockCount: Int { scopes.count }

  var isScriptLevel: Bool { scopes.isEmpty }

  func bind(_ name: String, _ value: ScriptValue) { scopes[scopes.count - 1][name] = .value(value) }

  func binding(_ name: String) -> Binding? {
    for scope in scopes.reversed() { if let binding = scope[name] { return binding } }
    return nil
  }

  /// Drops a name from the innermost scope that has it. Returns `false` if no scope has it.
  func drop(_ name: String) -> Bool {
    guard let index = scopes.lastIndex(where: { $0[name] != nil }) else { return false }
    scopes[index][name] = scopes[index][name]?.afterDrop
    return true
  }
}
