// RowWriter.swift: one row of a written table.

/// Writes one row of a protocol's or a class's table.
struct RowWriter {
  /// The type of the targets: `any Name`, or the name of a class.
  let targetType: String
  /// How types are named where the table stands.
  let names: CarriedNames
  /// Whether a target that is set is known to be no copy.
  let isClassBound: Bool
  /// The key as an expression.
  let key: String
  let isolation: Isolation
  /// Whether targets are known to be `Sendable`.
  var isShared = true
  /// Whether a method that suspends and says nothing stays in the isolation of its caller.
  var isNonsendingByDefault = false
  /// What has the functions of rows whose isolation only the compiler knows, with a dot.
  var functions = ""
  /// Whether the target is an existential that only classes adopt, so that a row may take it in place.
  var isInPlace = false

  /// A function that calls the target, and is isolated as the class is that it stands in.
  func function(_ entry: Entry, _ writer: inout TextWriter) {
    let (parameters, call) = body(entry)
    let clause = parameters.map { "_ \($0.name): \($0.type)" }.joined(separator: ", ")
    let effects = (entry.isAsync ? " async" : "") + (entry.throws ? " throws" : "")
    let answers = entry.member.answers && entry.role != .setter
    let result = answers ? " -> \(entry.member.type.map(names.keyed) ?? "Void")" : ""
    writer.block("private static func \(entry.functionName)(\(clause))\(effects)\(result)") { $0.line(call) }
  }

  func row(_ entry: Entry) -> String {
    let (member, isAsync) = (entry.member, entry.isAsync)
    // A function that stays with its caller tells nothing of an actor.
    if isolation == .inherited, !isAsync || !staysWithCaller(member) {
      let (label, sharing) = isAsync ? ("asyncFunction", ", sharing: \(isShared)") : ("function", "")
      return "Forwardcast.Responds(key: \(key), \(label): \(functions)\(entry.functionName)\(sharing))"
    }
    let (parameters, call) = body(entry)
    var head = parameters.map(\.name).joined(separator: ", ")
    var to = isInPlace && parameters.count <= 4 ? "row" : "to"
    if isolation == .instance || member.parameters.contains(where: { $0.type.isSome }) {
      // An existential is opened for a generic argument only where its type is known, and so is an isolated target.
      head = "(" + parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ") + ")"
      to = "to"
    }
    let responds = "Forwardcast.Responds" + (member.isOptional ? "<\(targetType)>" : "")
    // Swift 5 takes brackets behind an attribute that it does not know for its arguments.
    let actor = isolation.attribute + (isolation.attribute.isEmpty || !head.hasPrefix("(") ? "" : "@Sendable ")
    let label: String? =
      switch isolation {
      case _ where isAsync && !actor.isEmpty: "key: \(key), asyncOnActor: { \(actor)"
      case .instance: "to: \(key), \(isAsync ? "async" : "isolated"): { "
      case _ where isAsync && staysWithCaller(member): "key: \(key), inTurn: { "
      case _ where isAsync: isShared ? "to: \(key), async: { " : "key: \(key), concurrent: { "
      case .mainActor: "to: \(key), onMainActor: { "
      case .global: "key: \(key), onGlobalActor: { \(actor)"
      default: nil
      }
    let body = "\(head) in \(call) }"
    return responds + (label.map { "(\($0)\(body))" } ?? "(\(to): \(key)) { \(body)")
  }

  /// The parameters of what a row calls, a name and a type each, and the call that it makes.
  private func body(_ entry: Entry) -> (parameters: [(name: String, type: String)], call: String) {
    var locals = LocalNames(entry.member)
    let target = locals.unique("target")
    let value = locals.unique("value")
    let isIsolated = isolation == .instance && !entry.isAsync
    let parameters =
      [(target, isIsolated ? "isolated \(targetType)" : targetType)]
      + (entry.role == .setter ? [(value, names.setType(entry))] : [])
      + zip(locals.parameters, entry.member.parameters.map { names.keyed($0.type) })
    return (parameters, call(entry, on: target, value: value, locals.parameters))
  }

  private func staysWithCaller(_ member: Member) -> Bool {
    if member.modifier("nonisolated")?.detail == "nonsending" { return true }
    return isNonsendingByDefault && !member.attributes.contains { $0.shortName == "concurrent" }
  }

  private func call(_ entry: Entry, on target: String, value: String, _ arguments: [String]) -> String {
    let member = entry.member
    let list = zip(member.parameters, arguments).map { parameter, argument in
      parameter.label.map { "\($0.asLabel): \(argument)" } ?? argument
    }.joined(separator: ", ")
    // What is optional is there: its row is only for targets that have it.
    let mark = member.isOptional ? "!" : ""
    func place(_ target: String) -> String {
      switch member.kind {
      case .subscripted: "\(target)[\(list)]\(mark)"
      case .property: "\(target).\(member.name)\(mark)"
      default: "\(target).\(member.name)\(mark)(\(list))"
      }
    }
    guard entry.role == .setter else {
      return (entry.throws ? "try " : "") + (entry.isAsync ? "await " : "") + place(target)
    }
    if isClassBound || member.setterIsNonmutating { return "\(place(target)) = \(value)" }
    // A target that is no class instance is a copy: only that is changed.
    return "Forwardcast.Responds<\(targetType)>.change(\(target)) { \(place("$0")) = \(value) }"
  }
}

extension Entry {
  /// What a setter does not do.
  var isAsync: Bool { role != .setter && member.effects.isAsync }
  var `throws`: Bool { role != .setter && member.effects.throwing != .never }

  /// The name of the function that a row calls.
  var functionName: String { "row\(ObjectiveCName.capitalized(key))" }
}

/// Names inside of a written body that are not those that the text needs itself.
struct LocalNames {
  /// The names of the parameters.
  private(set) var parameters: [String] = []
  private var taken: Set<String> = []

  private static let reserved: Set<String> = [
    "multicast", "Messages", "Forwardcast", "self", "Self", "_", "newValue", "answer", "super",
  ]

  init(_ member: Member) {
    for parameter in member.parameters {
      let plain = parameter.name.withoutBackticks
      let isPlain =
        parameter.name == plain && !SwiftKeywords.reserved.contains(plain)
        && plain.unicodeScalars.allSatisfy(\.continuesSwiftIdentifier)
      var name = isPlain && !Self.reserved.contains(plain) ? plain : "argument\(parameters.count + 1)"
      while taken.contains(name) { name += "_" }
      taken.insert(name)
      parameters.append(name)
    }
  }

  /// The parameters as arguments of a call: one that is only borrowed is copied.
  func arguments(_ member: Member) -> [String] {
    zip(member.parameters, parameters).map { parameter, name in
      parameter.type.specifiers.isDisjoint(with: ["borrowing", "__shared"]) ? name : "copy \(name)"
    }
  }

  /// A name that nothing has, made from `wanted`.
  mutating func unique(_ wanted: String) -> String {
    var name = wanted
    while taken.contains(name) { name += "_" }
    taken.insert(name)
    return name
  }
}
