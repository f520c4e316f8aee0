// ForwardedInterface+Availability.swift: where and how long members are there.

extension ForwardedInterface {
  /// The attributes that say it, as they are.
  func availability(_ attributes: [Attribute]) -> [String] {
    attributes.filter { $0.shortName == "available" }.map { source.line($0.positions) }
  }

  private func arguments(_ member: Member) -> [[String]] {
    member.attributes.filter { $0.shortName == "available" }.map { attribute in
      attribute.arguments.map { ($0.label.map { "\($0): " } ?? "") + source.line($0.value) }
    }
  }

  func isDeprecated(_ member: Member) -> Bool {
    arguments(member).joined().contains { $0.hasPrefix("deprecated") }
  }

  /// The platforms that a member needs, as `#available` names them.
  func platforms(_ member: Member) -> String? {
    let platforms = arguments(member).flatMap { arguments -> [String] in
      guard let platform = arguments.first, !platform.hasPrefix("swift"), !platform.hasPrefix("*") else { return [] }
      if arguments.last == "*" { return arguments.dropLast() }
      return arguments.filter { $0.hasPrefix("introduced: ") }.map { "\(platform) \($0.dropFirst(12))" }
    }
    return platforms.isEmpty ? nil : (platforms + ["*"]).joined(separator: ", ")
  }
}
