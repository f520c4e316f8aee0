// MemberWriter.swift: the requirements of a protocol, each sending its message.
// Part of the macro program: Writing. See DESIGN.md, "The attributes".

/// Writes the members of a class that is a protocol.
struct MemberWriter {
  let interface: ForwardedInterface
  /// The access of the members, with a blank.
  let access: String
  /// What has the keys.
  let keys: String

  init(_ interface: ForwardedInterface, access: String, keys: String = "Messages") {
    (self.interface, self.access, self.keys) = (interface, access, keys)
  }

  func write(to writer: inout TextWriter) {
    for item in interface.items {
      switch item {
      case .directive(let line): writer.line(line)
      case .entry(let entry) where entry.role == .setter: break
      case .entry(let entry):
        writer.line("")
        member(entry, &writer)
        if entry.member.answers { policyForm(entry, &writer) }
      }
    }
  }

  private func member(_ entry: Entry, _ writer: inout TextWriter) {
    let member = entry.member
    let names = LocalNames(member)
    writer.lines(member.documentation)
    writer.lines(attributes(member))
    let head = "\(isolation(member))\(access)"
    let key = "\(keys).\(entry.key.quotedIfKeyword)"
    switch member.kind {
    case .method:
      let result = member.answers ? " -> \(member.type?.text ?? "")" : ""
      writer.block("\(head)func \(member.name)(\(parameters(member, names)))\(effects(member.effects))\(result)") {
        $0.lines(body(member, key, names))
      }
    case .property, .subscripted:
      let type = member.type?.text ?? ""
      let place =
        member.kind == .property
        ? "var \(member.name): \(type)" : "subscript(\(parameters(member, names, areLabels: false))) -> \(type)"
      writer.block("\(head)\(place)") { writer in
        let lines = body(member, key, names)
        if !member.isSettable, member.effects == Effects() {
          writer.lines(lines)
          return
        }
        writer.block("get\(effects(member.effects))") { $0.lines(lines) }
        guard member.isSettable, let setter = setterKey(of: entry) else { return }
        let arguments = (["newValue"] + names.arguments(member)).joined(separator: ", ")
        writer.block("set") {
          $0.line(held("multicast.broadcast(\(keys).\(setter.quotedIfKeyword), \(arguments))", member))
        }
      }
    case .other: break
    }
  }

  private func setterKey(of getter: Entry) -> String? {
    for case .entry(let entry) in interface.items
    where entry.role == .setter && entry.member.positions == getter.member.positions {
      return entry.key
    }
    return nil
  }

  // MARK: Heads

  /// The attributes that are carried over, a line each.
  private func attributes(_ member: Member) -> [String] {
    member.attributes.filter { !$0.isOurs("Message") && !$0.isOurs("Answer") && !$0.isGlobalActor }
      .map { interface.source.line($0.positions) }
  }

  private func isolation(_ member: Member) -> String {
    if let modifier = member.modifier("nonisolated") { return "nonisolated\(modifier.detail.map { "(\($0))" } ?? "") " }
    if let actor = member.attributes.first(where: \.isGlobalActor) { return "@\(actor.name) " }
    return ""
  }

  private func effects(_ effects: Effects) -> String {
    let throwing =
      switch effects.throwing {
      case .never: ""
      case .untyped: " throws"
      case .typed(let error): " throws(\(error))"
      }
    return (effects.isAsync ? " async" : "") + throwing
  }

  /// - Parameter areLabels: whether a single name is a label too, as in methods and unlike in subscripts.
  private func parameters(_ member: Member, _ names: LocalNames, areLabels: Bool = true) -> String {
    zip(member.parameters, names.parameters).map { parameter, name in
      let label = parameter.label?.asLabel ?? "_"
      let names = label == name && areLabels ? name : label == "_" && !areLabels ? name : "\(label) \(name)"
      let attributes = parameter.attributes.isEmpty ? "" : parameter.attributes + " "
      return "\(attributes)\(names): \(parameter.type.text)"
    }.joined(separator: ", ")
  }

  // MARK: Bodies

  private func body(_ member: Member, _ key: String, _ names: LocalNames) -> [String] {
    let effects = member.effects
    let arguments = ([key] + names.arguments(member)).joined(separator: ", ")
    guard member.answers, let plan = interface.plans[member.positions.lowerBound] else {
      if effects == Effects() { return [held("multicast.broadcast(\(arguments))", member)] }
      return ["_ = \(question(arguments, ".last", member))"]
    }
    switch plan.empty {
    case .none: return ["\(question(arguments, plan.policy, member)) ?? nil"]
    case .ofPolicy: return [question(arguments, plan.policy, member)]
    case .stated(let value):
      let policy = plan.isOptional ? plan.policy : ".ifAnswered(\(plan.policy))"
      return ["\(question(arguments, policy, member)) ?? \(value)"]
    case .thrown:
      return [
        "guard let answer = \(question(arguments, plan.policy, member)) else {",
        "  throw multicast.nobodyResponds(to: \(key).selector)",
        "}",
        "return answer",
      ]
    }
  }

  /// The call that asks all targets.
  private func question(_ arguments: String, _ policy: String, _ member: Member) -> String {
    let effects = member.effects
    let wait = effects.isAsync ? "await " : ""
    let ending = effects.isAsync ? "AndWait" : ""
    let call = call(arguments, policy, effects, wait, ending)
    guard !effects.isAsync, isOnGlobalActor(member) else { return call }
    return (effects.throwing == .never ? "" : "try ") + held(call, member)
  }

  private func isOnGlobalActor(_ member: Member) -> Bool {
    if case .global = interface.isolation(of: member) { true } else { false }
  }

  /// A call that the rows of a global actor can be reached from.
  private func held(_ call: String, _ member: Member) -> String {
    guard isOnGlobalActor(member) else { return call }
    var head = ""
    if case .typed(let error) = member.effects.throwing, call.contains(", throwing: ") {
      head = "() throws(\(error)) in "
    }
    return "Forwardcast.withHeldActor({ \(head)\(call) })"
  }

  private func call(_ arguments: String, _ policy: String, _ effects: Effects, _ wait: String, _ ending: String)
    -> String
  {
    switch effects.throwing {
    case .never: "\(wait)multicast.answer\(ending)(\(arguments), returning: \(policy))"
    case .untyped: "try \(wait)multicast.collect\(ending)(\(arguments), returning: \(policy))"
    case .typed(let error):
      "try \(wait)multicast.answer\(ending)(\(arguments), returning: \(policy), throwing: \(error.asMetatype))"
    }
  }

  // MARK: Forms with a policy

  /// The same member with a policy, which throws.
  private func policyForm(_ entry: Entry, _ writer: inout TextWriter) {
    let member = entry.member
    var names = LocalNames(member)
    let policy = names.unique("policy")
    let output = unusedType(member)
    guard let type = member.type else { return }
    let answer = Entry(role: .getter, member: member, selector: "").answerType(type)
    let clause = parameters(member, names, areLabels: member.kind != .subscripted)
    let parameter = "returning \(policy): Forwardcast.ReturnPolicy<\(answer), \(output)>"
    let arguments = (["\(keys).\(entry.key.quotedIfKeyword)"] + names.arguments(member)).joined(separator: ", ")
    let isAsync = member.effects.isAsync
    let question =
      "try \(isAsync ? "await " : "")multicast.collect\(isAsync ? "AndWait" : "")(\(arguments), returning: \(policy))"
    let call = !isAsync && isOnGlobalActor(member) ? "try " + held(question, member) : question
    let all = clause.isEmpty ? parameter : "\(clause), \(parameter)"
    writer.line("")
    writer.line("/// `\(member.name)` with a policy: what the answers become.")
    writer.lines(attributes(member))
    let head = "\(isolation(member))\(access)"
    let effects = "\(isAsync ? " async" : "") throws"
    if member.kind == .subscripted {
      writer.block("\(head)subscript<\(output)>(\(all)) -> \(output)") { writer in
        writer.block("get\(effects)") { $0.line(call) }
      }
    } else {
      writer.block("\(head)func \(member.name)<\(output)>(\(all))\(effects) -> \(output)") { $0.line(call) }
    }
  }

  /// A name for a type that the member does not use.
  private func unusedType(_ member: Member) -> String {
    let used = Set(member.positions.map { interface.source.text($0) })
    return ["Output", "Result", "Combined", "Collected"].first { !used.contains($0) } ?? "CollectedOutput"
  }
}

extension Entry {
  /// The type of an answer as a policy names it.
  func answerType(_ type: TypeText) -> String { type.keyed }
}

extension String {
  /// `Name.self`, or `(any Name).self`.
  var asMetatype: String { contains(" ") ? "(\(self)).self" : "\(self).self" }
}
