// StandardProtocol.swift: protocols of the standard library that a protocol may refine.

/// A protocol of the standard library, whose requirements cannot be forwarded.
struct StandardProtocol {
  let name: String
  /// The members that the user has to implement. Empty if Forwardcast implements them.
  private let members: [String]
  /// True if the primary associated type is stated, as in `Identifiable<Int>`.
  private let isSpecialized: Bool

  private static let known: [String: [String]] = [
    "Equatable": [], "Hashable": [], "Identifiable": [], "CustomStringConvertible": [],
    "CustomDebugStringConvertible": [],
    "CaseIterable": ["static var allCases: [NAME]"],
    "RawRepresentable": ["convenience init?(rawValue: RawValue)", "var rawValue: RawValue"],
    "Comparable": ["func < (a: NAME, b: NAME) -> Bool"],
    "Encodable": ["func encode(to encoder: any Encoder) throws"],
    "Decodable": ["convenience init(from decoder: any Decoder) throws"],
    "Codable": ["func encode(to encoder: any Encoder) throws", "convenience init(from decoder: any Decoder) throws"],
  ]

  init?(_ type: String) {
    let stated = String(type.prefix { $0 != "<" })
    let name = stated.lastName
    guard let members = Self.known[name], [name, "Swift.\(name)"].contains(stated) else { return nil }
    (self.name, self.members, isSpecialized) = (name, members, stated != type)
  }

  /// Advice to write an extension that the class needs; `nil` if it needs no extension.
  func advice(for interface: ForwardedInterface) -> String? {
    let fixesID = name == "Identifiable" && (isSpecialized || interface.fixesType("ID"))
    let all = fixesID ? ["var id: ID"] : members
    guard !all.isEmpty else { return nil }
    let text = all.map { "\(interface.access)\($0.replacing("NAME", with: interface.className)) { … }" }
      .joined(separator: "; ")
    // If an extension of the class declares an operator, the compiler finds the operator twice.
    return "Does it not conform to '\(name)'? Write '"
      + (name == "Comparable" ? "\(text)' at file scope." : "extension \(interface.className) { \(text) }'.")
  }
}

extension String {
  var lastName: String { split(separator: ".").last.map(String.init) ?? self }
}
