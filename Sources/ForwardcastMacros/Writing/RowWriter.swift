// RowWriter.swift: one row of a written table.
// Part of the macro program: Writing. See the article "How the attributes work".

/// Writes one row of a protocol's or a class's table.
struct RowWriter {
  /// The type of the targets: `any Name`, or the name of a class.
  let targetType: String
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

  /// A function that calls the target, and is isolated as the class is that it stands in.
  func function(_ entry: Entry, _ writer: inout TextWriter) {
    let member = entry.member
    var names = LocalNames(member)
    let target = names.unique("target")
    let value = names.unique("value")
    var parameters = ["_ \(target): \(targetType)"]
    if entry.role == .setter { parameters.append("_ \(value): \(entry.setType)") }
    parameters += zip(member.parameters, names.parameters).map { "_ \($1): \($0.type.keyed)" }
    let effects = (entry.isAsync ? " async" : "") + (entry.throws ? " throws" : "")
    let result = member.answers && entry.role != .setter ? " -> \(member.type?.keyed ?? "Void")" : ""
    writer.block(
      "private static func \(entry.functionName)(\(parameters.joined(separator: ", ")))\(effects)\(result)"
    ) {
      $0.line(call(entry, on: target, value: value, names.parameters))
    }
  }

  func row(_ entry: Entry) -> String {
    let member = entry.member
    var names = LocalNames(member)
    let target = names.unique("target")
    let value = names.unique("value")
    var parameters = [target]
    if entry.role == .setter { parameters.append(value) }
    parameters += names.parameters
    var head = parameters.joined(separator: ", ")
    if isolation == .instance || member.parameters.contains(where: { $0.type.isSome }) {
      // An existential is opened for a generic argument only where its type is known, and so is an isolated target.
      let value = entry.role == .setter ? member.type.map { [$0.keyed] } ?? [] : []
      let isIsolated = isolation == .instance && !entry.isAsync
      let types = [isIsolated ? "isolated \(targetType)" : targetType] + value + member.parameters.map { $0.type.keyed }
      head = "(" + zip(parameters, types).map { "\($0): \($1)" }.joined(separator: ", ") + ")"
    }
    let isAsync = entry.isAsync
    let body = "\(head) in \(call(entry, on: target, value: value, names.parameters))"
    // A function that stays with its caller tells nothing of an actor.
    if isolation == .inherited, !isAsync || !staysWithCaller(member) {
      let sharing = isAsync ? ", sharing: \(isShared)" : ""
      return
        "Forwardcast.Responds(key: \(key), \(isAsync ? "asyncOnActor" : "onGlobalActor"): \(functions)\(entry.functionName)\(sharing))"
    }
    let responds = "Forwardcast.Responds" + (member.isOptional ? "<\(targetType)>" : "")
    let actor = isolation.attribute
    if isAsync, !actor.isEmpty { return "\(responds)(key: \(key), asyncOnActor: { \(actor)\(body) })" }
    if isAsync, isolation != .instance, staysWithCaller(member) {
      return "\(responds)(key: \(key), inTurn: { \(body) })"
    }
    if isAsync, !isShared { return "\(responds)(key: \(key), concurrent: { \(body) })" }
    if isAsync { return "\(responds)(to: \(key), async: { \(body) })" }
    switch isolation {
    case .mainActor: return "\(responds)(to: \(key), onMainActor: { \(body) })"
    case .global: return "\(responds)(key: \(key), onGlobalActor: { \(actor)\(body) })"
    case .instance: return "\(responds)(to: \(key), isolated: { \(body) })"
    default: return "\(responds)(to: \(key)) { \(body) }"
    }
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
  var functionName: String { "row\(SelectorName.capitalized(key))" }
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
