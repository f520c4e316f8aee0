// Frame.swift: the names that are known while a row or a script runs.

enum Binding: Sendable {
  case value(ScriptValue)
  /// The name was dropped; the object that it meant is remembered weakly, for `alive`.
  case dropped(WeakObject)

  /// What is left of the binding once the name is dropped.
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

struct WeakObject: @unchecked Sendable {  // only asked whether the object is there; the runtime guards that
  weak var object: AnyObject?
  init(_ object: AnyObject?) { self.object = object }
}

/// One activation of a row, or of a script: its names, innermost scope last. It stays on the thread that runs it.
final class Frame {
  let source: SourceText
  /// Whose row it is; `nil` at the top of a script.
  let object: ScriptObject?
  let depth: Int
  /// Scopes of the row and its blocks. At the top of a script there is none, and names are the world's.
  private var scopes: [[String: Binding]]
  /// The hook whose block runs here; `nil` in rows and at the top of a script.
  var hook: HookRun?

  init(source: SourceText, depth: Int) { (self.source, self.depth, object, scopes) = (source, depth, nil, []) }

  /// A row, in which `self` and `name` are known.
  init(row: RowDefinition, object: ScriptObject, depth: Int) {
    (source, self.object, self.depth) = (row.source, object, depth)
    scopes = [["self": .value(.object(object.reference)), "name": .value(.string(object.name))], [:]]
  }

  /// The names of another frame as they are now, for an expression that is computed later.
  init(later frame: Frame, depth: Int) {
    (source, object, self.depth, scopes) = (frame.source, frame.object, depth, frame.scopes)
  }

  func enterBlock() { scopes.append([:]) }
  func leaveBlock() { scopes.removeLast() }

  /// Whether names that are made here are the world's.
  var isScriptLevel: Bool { scopes.isEmpty }

  func bind(_ name: String, _ value: ScriptValue) { scopes[scopes.count - 1][name] = .value(value) }

  func binding(_ name: String) -> Binding? {
    for scope in scopes.reversed() { if let binding = scope[name] { return binding } }
    return nil
  }

  /// Forgets a name of the innermost scope that has it. `false` when none has.
  func drop(_ name: String) -> Bool {
    guard let index = scopes.lastIndex(where: { $0[name] != nil }) else { return false }
    scopes[index][name] = scopes[index][name]?.afterDrop
    return true
  }
}
