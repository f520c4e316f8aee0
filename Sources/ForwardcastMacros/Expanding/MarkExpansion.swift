// MarkExpansion.swift: @Message, @Answer and @NotForwarded, which others read.

extension ExpansionRequest {
  /// Says where they stand for nothing. They never write anything.
  func expandMark(into expansion: inout Expansion) {
    guard let surplus else { return }
    expansion.attributeProblems = [Problem(severity: .warning, message: surplus, offsets: attribute.offsets(0..<2))]
  }

  /// Why the attribute stands for nothing; `nil` when it is in its place.
  private var surplus: String? {
    let around = around.first ?? nil
    if let around, around.keyword == "protocol", around.attribute("Forwarded") != nil { return nil }
    if macro != "Message" { return "'@\(macro)' says nothing outside of a protocol with '@Forwarded'" }
    if let around, around.attribute("Receiver") != nil { return nil }
    if around?.keyword == "extension" {
      return "'@Message' says nothing in an extension: '@Receiver' sees only the members in the class's own brackets"
    }
    return "'@Message' says nothing outside of a class with '@Receiver' or a protocol with '@Forwarded'"
  }
}
