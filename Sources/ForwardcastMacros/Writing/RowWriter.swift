// RowWriter.swift: one row of a table, which is its entry for one message.

struct RowWriter {
  /// The type of the targets: `any Name` or a class.
  let targetType: String
  let names: CarriedNames
  /// True if targets are known to be class instances, so setters need not copy them back.
  let isClassBound: Bool
  let key: String
  let isolation: Isolation
  /// Whether targets are known to be `Sendable`.
  var isShared = true
  var isNonsendingByDefault = false
  /// The prefix of functions for rows with inferred isolation: the functions' type and a dot.
  var functions = ""
  /// True if the target is a class-bound existential, which `Responds(row:)` passes by address.
  var isInPlace = false

  /// A function that calls the target. The compiler gives it the isolation of its class.
  func function(_ entry: Entry) -> [String] {
    let (parameters, call) = body(entry)
    let clause = parameters.map { "_ \($0.name): \($0.type)" }.joined(separator: ", ")
    let effects = (entry.isAsync ? " async" : "") + (entry.throws ? " throws" : "")
    let answers = entry.member.answers && entry.role != .setter
    let result = answers ? " -> \(entry.member.type.map(names.keyed) ?? "Void")" : ""
    return block("private static func \(entry.functionName)(\(clause))\(effects)\(result)", [call])
  }

  func row(_ entry: Entry) -> String {
    let (member, isAsync) = (entry.member, entry.isAsync)
    // The compiler infers no actor from a function that runs in its caller's isolation.
    if isolation == .inherited, !isAsync || !staysWithCaller(member) {
      let (label, sharing) = isAsync ? ("asyncFunction", ", sharing: \(isShared)") : ("function", "")
      return "Forwardcast.Responds(key: \(key), \(label): \(functions)\(entry.functionName)\(sharing))"
    }
    let (parameters, call) = body(entry)
    var head = parameters.map(\.name).joined(separator: ", ")
    var to = isInPlace && parameters.count <= 4 ? "row" : "to"
    if isolation == .instance || member.parameters.contains(where: { $0.type.isSome }) {
      // Opening an existential for a generic parameter, or isolating a target, needs a stated type.
      head = "(" + parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ") + ")"
      to = "to"
    }
    let responds = "Forwardcast.Responds" + (member.isOptional ? "<\(targetType)>" : "")
    // Swift 5 reads parentheses after an unknown attribute as the attribute's arguments.
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
    // The row is present only for targets that implement the optional requirement.
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
    // A target of a value type is a copy, which `change` modifies in a variable.
    return "Forwardcast.Responds<\(targetType)>.change(\(target)) { \(place("$0")) = \(value) }"
  }
}

extension Entry {
  var isAsync: Bool { role != .setter && member.effects.isAsync }
  var `throws`: Bool { role != .setter && member.effects.throwing != .never }

  var functionName: String { "row\(ObjectiveCName.capitalized(key))" }
}

extension SourceText {
  /// The arguments of the `@available` attributes of a member.
  func availability(of member: Member) -> [[String]] {
    member.attributes.filter { $0.shortName == "available" }.map { attribute in
      attribute.arguments.map { ($0.label.map { "\($0): " } ?? "") + line($0.value) }
    }
  }

  func isUnavailable(_ member: Member) -> Bool {
    availability(of: member).contains { $0.first == "*" && $0.contains("unavailable") }
  }

  /// The `#if` condition of builds for platforms on which a member is available; `nil` for all.
  func condition(of member: Member) -> String? {
    let availability = availability(of: member)
    func states(_ platform: String) -> Bool {
      availability.joined().contains { $0 == platform || $0.hasPrefix("\(platform) ") }
    }
    var platforms = availability.compactMap { $0.contains("unavailable") ? $0.first : nil }
    // Like Swift, applies iOS availability to visionOS and Mac Catalyst, unless theirs is stated.
    if platforms.contains("iOS"), !states("visionOS") { platforms.append("visionOS") }
    // Obsoletions of platforms depend on the deployment target, which `#if` cannot test.
    let languages = availability.filter { $0.first == "swift" }.joined().compactMap { argument in
      argument.hasPrefix("obsoleted: ") ? "swift(<\(argument.dropFirst(11)))" : nil
    }
    let systems = platforms.compactMap { platform -> String? in
      switch platform {
      case "iOS" where states("macCatalyst"): "(!os(iOS) || targetEnvironment(macCatalyst))"
      case "iOS", "macOS", "OSX", "tvOS", "watchOS", "visionOS": "!os(\(platform))"
      case "macCatalyst": "!targetEnvironment(macCatalyst)"
      default: nil
      }
    }
    let conditions = languages + systems
    return conditions.isEmpty ? nil : conditions.joined(separator: " && ")
  }

  /// A row, inside `#available` if its member is limited to certain platforms.
  func available(_ row: [String], _ member: Member) -> [String] {
    platforms(of: member).map { block("if #available(\($0))", row) } ?? row
  }

  /// The platforms to which a member is limited, with their versions; `nil` if there is no limit.
  func platforms(of member: Member) -> String? {
    let platforms = availability(of: member).flatMap { arguments -> [String] in
      guard let platform = arguments.first, !platform.hasPrefix("swift"), !platform.hasPrefix("*") else { return [] }
      if arguments.last == "*" { return arguments.dropLast() }
      return arguments.filter { $0.hasPrefix("introduced: ") }.map { "\(platform) \($0.dropFirst(12))" }
    }
    return platforms.isEmpty ? nil : (platforms + ["*"]).joined(separator: ", ")
  }
}

/// Names for a generated body that do not clash with names that the body uses.
struct LocalNames {
  private(set) var parameters: [String] = []
  private var taken: Set<String> = []

  private static let reserved: Set<String> = [
    "multicast", "Messages", "Forwardcast", "self", "Self", "_", "newValue", "answer", "super",
  ]

  /// - Parameter root: another name that the body uses.
  init(_ member: Member, besides root: String? = nil) {
    for parameter in member.parameters {
      let plain = parameter.name.withoutBackticks
      let isPlain =
        parameter.name == plain && !SwiftKeywords.reserved.contains(plain)
        && plain.unicodeScalars.allSatisfy(\.continuesSwiftIdentifier)
      parameters.append(
        unique(isPlain && !Self.reserved.contains(plain) && plain != root ? plain : "argument\(parameters.count + 1)"))
    }
  }

  /// The parameters as arguments; borrowed parameters are copied.
  func arguments(_ member: Member) -> [String] {
    zip(member.parameters, parameters).map { parameter, name in
      parameter.type.specifiers.isDisjoint(with: ["borrowing", "__shared"]) ? name : "copy \(name)"
    }
  }

  mutating func unique(_ wanted: String) -> String {
    var name = wanted
    while taken.contains(name) { name += "_" }
    taken.insert(name)
    return name
  }
}
