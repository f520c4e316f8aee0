// WireValues.swift: boxes, written as the name of a type and a value.

import Forwardcast

/// Why a value cannot be encoded or decoded.
struct WireValueError: Error, CustomStringConvertible { let description: String }

extension WireWriter {
  /// Writes a box: the name of its type, then its value. `role` describes the box in errors.
  mutating func box(_ box: ArgumentBox, role: @autoclosure () -> String) throws(WireValueError) {
    switch box.value {
    case let value as Int: named("Int") { $0.integer(value) }
    case let value as String: named("String") { $0.text(value) }
    case let value as Bool: named("Bool") { $0.bool(value) }
    case let value as Double: named("Double") { $0.real(value) }
    case is Void: named("Void") { $0.null() }
    case _ where box.isNil: named("nil") { $0.null() }
    case let value as any Encodable:
      text(CodedType.name(of: type(of: value)))
      do { try writeValue(value, to: &self) } catch {
        throw WireValueError(description: "\(role()) of type \(type(of: value)) cannot be encoded: \(error)")
      }
    case let value: throw WireValueError(description: "\(role()) is not Encodable: \(type(of: value))")
    }
  }

  private mutating func named(_ type: String, _ value: (inout WireWriter) -> Void) {
    text(type)
    value(&self)
  }
}

extension WireReading {
  /// Reads a box from two nodes: the name of its type, and its value. In errors, `place` names the
  /// list of known types.
  func box(type typeNode: Int, value: Int, in place: String) throws(WireValueError) -> ArgumentBox {
    guard tree.kind(typeNode) == .text, WireName.isStreamSafe(tree.bytes(of: typeNode)) else {
      throw WireValueError(description: "a value has no type name")
    }
    let name = tree.text(typeNode)
    do {
      switch name {
      case "Int": return ArgumentBox(try self.value(Int.self, at: value))
      case "String": return ArgumentBox(try self.value(String.self, at: value))
      case "Void": return ArgumentBox(())
      case "nil": return ArgumentBox(uncheckedSendable: AnyObject?.none)
      default: return try box(try CodedType.type(named: name, types.types), value)
      }
    } catch let refusal as CodedType.Refusal {
      let advice = refusal == .unknown ? "; add it to the \(place)" : ""
      throw WireValueError(description: "\(refusal) \(WireRefusal.quoted(name))\(advice)")
    } catch let error as DecodingError {
      throw WireValueError(description: "not a value of type \(WireRefusal.quoted(name)): \(error.reason)")
    } catch {
      throw WireValueError(description: "not a value of type \(WireRefusal.quoted(name)): \(error)")
    }
  }

  private func box<T: Decodable>(_ type: T.Type, _ value: Int) throws -> ArgumentBox {
    // All named types and all standard types are Sendable.
    ArgumentBox(uncheckedSendable: try self.value(type, at: value))
  }
}

extension DecodingError {
  /// The error and its position in the value.
  var reason: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      let place = context.codingPath.map(\.stringValue).joined(separator: ".")
      return context.debugDescription + (place.isEmpty ? "" : " at \(place)")
    @unknown default: return "\(self)"
    }
  }
}
