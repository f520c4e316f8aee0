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
      let isIsolated = isolation == .instance && !(member.effects.isAsync && entry.role != .setter)
      let types = [isIsolated ? "isolated \(targetType)" : targetType] + value + member.parameters.map { $0.type.keyed }
      head = "(" + zip(parameters, types).map { "\($0): \($1)" }.joined(separator: ", ") + ")"
    }
    let call = call(entry, on: target, value: value, names.parameters)
    let isAsync = member.effects.isAsync && entry.role != .setter
    let throwing = member.effects.throwing != .never && entry.role != .setter
    let body = "\(head) in \(throwing ? "try " : "")\(isAsync ? "await " : "")\(call)"
    let actor: String? =
      switch isolation {
      case .mainActor: "MainActor"
      case .global(let name): name
      default: nil
      }
    if isAsync, let actor { return "Forwardcast.Responds(key: \(key), asyncOnActor: { @\(actor) \(body) })" }
    if isAsync, isolation != .instance, staysWithCaller(member) {
      return "Forwardcast.Responds(key: \(key), inTurn: { \(body) })"
    }
    if isAsync, !isShared { return "Forwardcast.Responds(key: \(key), concurrent: { \(body) })" }
    if isAsync { return "Forwardcast.Responds(to: \(key), async: { \(body) })" }
    switch isolation {
    case .mainActor: return "Forwardcast.Responds(to: \(key), onMainActor: { \(body) })"
    case .global(let actor): return "Forwardcast.Responds(key: \(key), onGlobalActor: { @\(actor) \(body) })"
    case .instance: return "Forwardcast.Responds(to: \(key), isolated: { \(body) })"
    default: return "Forwardcast.Responds(to: \(key)) { \(body) }"
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
    let place: String
    switch member.kind {
    case .subscripted: place = "\(target)[\(list)]"
    case .property: place = "\(target).\(member.name)"
    default: return "\(target).\(member.name)(\(list))"
    }
    guard entry.role == .setter else { return place }
    if isClassBound || member.setterIsNonmutating { return "\(place) = \(value)" }
    // A target that is no class instance is a copy: only that is changed.
    let inner = member.kind == .subscripted ? "$0[\(list)]" : "$0.\(member.name)"
    return "Forwardcast.Responds<\(targetType)>.change(\(target)) { \(inner) = \(value) }"
  }
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
      let isPlain = parameter.name == plain && plain.unicodeScalars.allSatisfy(\.continuesSwiftIdentifier)
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
