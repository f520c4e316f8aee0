// MemberWriter.swift: the requirements of a protocol, each of which sends its message.

struct MemberWriter {
  let interface: ForwardedInterface
  private var access: String { interface.access }
  let carried: CarriedNames
  let keys: String
  /// The attribute for public members in an extension. Empty in the class, which has the witnesses.
  private let inClient: String
  /// A remark at each body, where the compiler's note about a missing requirement points.
  private let remark: String?
  /// The messages of setters, by the positions of their members.
  private let setters: [Range<Int>: Entry]
  /// True if, in Swift 5, async members of the extension may lack the class's inherited isolation.
  private let mayBeElsewhere: Bool

  /// - Parameter owner: the name of the class, if the members are written outside of it.
  init(_ interface: ForwardedInterface, owner: String? = nil) {
    self.interface = interface
    inClient = owner == nil ? "" : interface.declaration.inClient
    remark = owner.map { "Only '\($0)' has this body. Implement the requirement in your class." }
    mayBeElsewhere = owner != nil && interface.isolation == .inherited && !interface.settings.opensAll
    keys = owner.map { "\($0)\(interface.genericArguments).Messages" } ?? "Messages"
    let settable = interface.entries.filter { $0.role == .setter }
    setters = Dictionary(settable.map { ($0.member.positions, $0) }) { first, _ in first }
    var names = interface.names
    if let owner, names.owner != nil { names.owner = "\(AttributeOptions.namespace(of: owner))." }
    carried = names
  }

  private var sender: String { interface.inheritsFacade ? "self" : "multicast" }

  var lines: [String] {
    interface.items.lines(where: { $0.role != .setter }) {
      [""] + member($0) + ($0.member.answers ? policyForm($0) : [])
    }
  }

  private func member(_ entry: Entry) -> [String] {
    let member = entry.member
    let names = locals(member)
    let head = "\(statesValue(member) ? "" : inClient)\(isolation(member))\(access)"
    let key = "\(keys).\(entry.key.quotedIfKeyword)"
    let type = member.type.map(carried.type) ?? ""
    var lines = body(member, key, names)
    if let first = lines.first, !first.hasPrefix("#") {
      lines.replaceSubrange(0..<1, with: interface.located(first, member))
    }
    let place: String
    if member.kind == .method {
      let result = member.answers ? " -> \(type)" : ""
      place = "func \(member.name)(\(parameters(member, names)))\(effects(member))\(result)"
    } else {
      place =
        member.kind == .property
        ? "var \(member.name): \(type)" : "subscript(\(parameters(member, names, areLabels: false))) -> \(type)"
      if member.isSettable || member.effects != Effects() { lines = block("get\(effects(member))", lines) }
      if let setter = setters[member.positions] {
        let arguments = (["newValue"] + names.arguments(member)).joined(separator: ", ")
        let call = "\(sender).broadcast(\(keys).\(setter.key.quotedIfKeyword), \(arguments))"
        lines += block("set", [held(call, member)])
      }
    }
    return member.documentation + attributes(member) + block(head + place, remark: remark, lines)
  }

  /// Names for the parameters. They differ from the first part of the key's qualified name.
  private func locals(_ member: Member) -> LocalNames {
    LocalNames(member, besides: String(keys.prefix { $0 != "." && $0 != "<" }))
  }

  // MARK: Heads

  /// Attributes that control code generation. The generated body has its own such attributes.
  private static let codeAttributes: Set<String> = [
    "inlinable", "inline", "_alwaysEmitIntoClient", "export", "usableFromInline", "_transparent", "_optimize",
    "backDeployed",
  ]

  /// The attributes to copy. An overload that is no requirement (`isOwn`) must not be `@objc`.
  /// Attributes that may be result builders are left out, because a result builder would transform
  /// the generated body.
  private func attributes(_ member: Member, isOwn: Bool = false) -> [String] {
    member.attributes.filter {
      !$0.isOurs("Message") && !$0.isOurs("Answer") && !$0.mayBeActor && !$0.isGlobalActor
        && !(isOwn && $0.name == "objc")
        && !Self.codeAttributes.contains($0.name)
    }.map { interface.source.line($0.positions) }
  }

  /// True if the body contains an expression of the user, which may use names that are not public.
  private func statesValue(_ member: Member) -> Bool {
    guard let plan = member.plan else { return false }
    if case .stated = plan.empty { return true }
    return plan.policy.contains("(")
  }

  private func isolation(_ member: Member) -> String {
    if let modifier = member.modifier("nonisolated") { return "nonisolated\(modifier.detail.map { "(\($0))" } ?? "") " }
    return member.attributes.first(where: \.isGlobalActor).map { "@\(carried.actor($0.name, of: member)) " } ?? ""
  }

  private func effects(_ member: Member) -> String {
    let throwing =
      switch member.effects.throwing {
      case .never: ""
      case .untyped: " throws"
      case .typed(let error): " throws(\(carried.error(error, of: member)))"
      }
    return (member.effects.isAsync ? " async" : "") + throwing
  }

  /// - Parameter areLabels: true if a single name is also the label, as in methods.
  private func parameters(_ member: Member, _ names: LocalNames, areLabels: Bool = true) -> String {
    zip(member.parameters, names.parameters).map { parameter, name in
      let label = parameter.label?.asLabel ?? "_"
      let names = label == name && areLabels ? name : label == "_" && !areLabels ? name : "\(label) \(name)"
      return "\(carried.attributes(of: parameter))\(names): \(carried.type(parameter.type))"
    }.joined(separator: ", ")
  }

  // MARK: Bodies

  private func body(_ member: Member, _ key: String, _ names: LocalNames) -> [String] {
    let effects = member.effects
    let arguments = ([key] + names.arguments(member)).joined(separator: ", ")
    func ask(_ policy: String) -> String { question(arguments, policy, member, effects.throwing) }
    guard member.answers, let plan = member.plan else {
      return [effects == Effects() ? held("\(sender).broadcast(\(arguments))", member) : "_ = \(ask(".last"))"]
    }
    let rule = plan.policy.contains("(") ? carried.value(plan.policy, "Rule", of: member) : plan.policy
    switch plan.empty {
    case .none: return ["\(ask(rule)) ?? nil"]
    case .ofPolicy: return [ask(rule)]
    case .stated(let value):
      let text = carried.value(value, "Otherwise", of: member)
      let line = "\(ask(plan.isOptional ? rule : ".ifAnswered(\(rule))")) ?? \(text)"
      // If the namespace declares the value, the compiler reports problems in the namespace.
      return (text == value ? interface.place(ofValueOf: member) : nil)?.lines(line) ?? [line]
    case .thrown, .trap:
      let way =
        if case .trap = plan.empty { "multicast.endProcess(unanswered:" } else { "throw multicast.nobodyResponds(to:" }
      return block("guard let answer = \(ask(rule)) else", ["\(way) \(key).selector)"]) + ["return answer"]
    }
  }

  private func question(_ arguments: String, _ policy: String, _ member: Member, _ throwing: Throwing) -> String {
    let call = call(arguments, policy, member, throwing)
    guard !member.effects.isAsync, isOnGlobalActor(member) else { return call }
    return (throwing == .never ? "" : "try ") + held(call, member)
  }

  private func isOnGlobalActor(_ member: Member) -> Bool {
    ![.nonisolated, .mainActor].contains(interface.isolation(of: member))
  }

  /// Wraps the call so that it can reach rows that are isolated to a global actor.
  private func held(_ call: String, _ member: Member) -> String {
    guard isOnGlobalActor(member) else { return call }
    var head = ""
    if case .typed(let error) = member.effects.throwing, call.contains(".answered(throwing: ") {
      head = "() throws(\(carried.error(error, of: member))) in "
    }
    return "Forwardcast.withHeldActor({ \(head)\(call) })"
  }

  /// The capture list of a closure, which copies borrowed parameters.
  private func captures(_ member: Member) -> String {
    let names = locals(member)
    let copies = zip(names.parameters, names.arguments(member)).filter { $0 != $1 }.map { "\($0) = \($1)" }
    return copies.isEmpty ? "" : "[\(copies.joined(separator: ", "))] in "
  }

  private func call(_ arguments: String, _ policy: String, _ member: Member, _ throwing: Throwing) -> String {
    let isAsync = member.effects.isAsync
    let (wait, ending) = isAsync ? ("await ", "AndWait") : ("", "")
    let all = "\(ending)(\(arguments), returning: \(policy))"
    let isBare = !isAsync && !member.answers
    func send(_ effects: String, _ verb: String) -> String {
      // The message is sent on the class's actor.
      if mayBeElsewhere, isAsync, interface.isolation(of: member) == .inherited {
        return "\(effects)onActorOfClass({ \(captures(member))\(effects)self.multicast.\(verb)\(all) })"
      }
      return "\(effects)\(isAsync ? "multicast" : sender).\(verb)\(all)"
    }
    let answer = isBare ? "\(sender).lastAnswer(\(arguments))" : send(wait, "answer")
    return switch throwing {
    case .never: "\(answer).answered()"
    case .untyped: isBare ? "try \(answer).get()" : send("try \(wait)", "collect")
    case .typed(let error): "try \(answer).answered(throwing: \(carried.error(error, of: member).asMetatype))"
    }
  }

  // MARK: Forms with a policy

  private func policyForm(_ entry: Entry) -> [String] {
    let member = entry.member
    var names = locals(member)
    let policy = names.unique("policy")
    let output = unusedType(member)
    guard let type = member.type else { return [] }
    let answer = carried.keyed(type)
    let clause = parameters(member, names, areLabels: member.kind != .subscripted)
    let parameter = "returning \(policy): Forwardcast.ReturnPolicy<\(answer), \(output)>"
    let arguments = (["\(keys).\(entry.key.quotedIfKeyword)"] + names.arguments(member)).joined(separator: ", ")
    let call = question(arguments, policy, member, .untyped)
    let all = clause.isEmpty ? parameter : "\(clause), \(parameter)"
    let head = "\(inClient)\(isolation(member))\(access)"
    let effects = "\(member.effects.isAsync ? " async" : "") throws"
    let isSubscript = member.kind == .subscripted
    let place = isSubscript ? "subscript<\(output)>(\(all))" : "func \(member.name)<\(output)>(\(all))\(effects)"
    return ["", "/// `\(member.name)` with a policy that combines the results."] + attributes(member, isOwn: true)
      + block(
        "\(head)\(place) -> \(output)",
        isSubscript ? block("get\(effects)", [call]) : interface.located(call, member))
  }

  private func unusedType(_ member: Member) -> String {
    let used = Set(member.positions.map { interface.source.text($0) })
    return ["Output", "Result", "Combined", "Collected"].first { !used.contains($0) } ?? "CollectedOutput"
  }
}

extension String {
  fileprivate var asMetatype: String { contains(" ") ? "(\(self)).self" : "\(self).self" }
}
