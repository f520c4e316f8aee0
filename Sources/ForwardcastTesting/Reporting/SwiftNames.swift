// SwiftNames.swift: calls in Swift's syntax, for failures.

import Forwardcast

/// The Swift names of a protocol's requirements: `price(of: "tea")` for `priceOf:`.
struct SwiftNames: Sendable {
  /// The type of the keys, such as `StoreProxy.Messages`; `nil` if no macro generated it.
  private let keys: String?
  /// The keys and names that cannot be derived from the selector, by selector.
  private var stated: [String: (key: String, name: Substring)] = [:]

  /// Reads the names that the macro wrote into the table: see ``SelectorTable/named(_:)``.
  init(_ table: SelectorTable?, keys: String?) {
    self.keys = keys
    for entry in table?.swiftNames.split(separator: " ") ?? [] {
      let parts = entry.split(separator: "=")
      guard let name = parts.last else { continue }
      let base = name.prefix { $0 != "(" }
      do {
        let selector = try MessageSelector.name(ofSwiftName: String(name))
        stated[selector] = (String(parts.count > 1 ? parts[0] : base), name)
        guard base == name, let first = base.first else { continue }
        let setter = "set\(first.uppercased())\(base.dropFirst())"
        stated[setter + ":"] = (setter, "\(base)=")
      } catch {}  // The macro did not write this name, so the selector is shown.
    }
  }

  func call(_ selector: MessageSelector, _ arguments: [String]) -> String {
    let name = stated[selector.name]?.name ?? Substring(Self.name(of: selector))
    if name.last == "=" { return "\(name.dropLast()) = \(arguments.joined(separator: ", "))" }
    guard let open = name.firstIndex(of: "(") else { return String(name) }
    let labels = name[open...].dropFirst().dropLast().split(separator: ":")
    let words = arguments.enumerated().map { index, argument in
      index < labels.count && labels[index] != "_" ? "\(labels[index]): \(argument)" : argument
    }
    return "\(name[..<open])(\(words.joined(separator: ", ")))"
  }

  /// A stub for calls of `selector`: `stub(StoreProxy.Messages.price, .any).answers(…)`.
  func stub(_ selector: MessageSelector) -> String {
    let key = stated[selector.name]?.key ?? selector.parts.first ?? selector.name
    let matches = String(repeating: ", .any", count: selector.numberOfArguments)
    return "stub(\(keys.map { "\($0).\(key)" } ?? "its key")\(matches)).answers(…)"
  }

  /// The name of a method whose first parameter has no label.
  private static func name(of selector: MessageSelector) -> String {
    let labels = selector.parts.enumerated().map { $0 == 0 ? "_:" : $1.isEmpty ? "_:" : "\($1):" }
    return "\(selector.parts.first ?? "")(\(selector.numberOfArguments == 0 ? "" : labels.joined()))"
  }
}
