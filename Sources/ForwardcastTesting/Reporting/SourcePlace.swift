// SourcePlace.swift: a place in a test's source.

/// A place in a test's source, where a failure is reported.
public struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
  /// `#fileID` of the line.
  public let fileID: String
  /// `#filePath` of the line.
  public var filePath: String { found ?? "\(path)" }
  /// The line, counted from 1.
  public let line: UInt
  /// The column, counted from 1.
  public let column: UInt

  let path: StaticString
  /// The path, if a test library stated it.
  private let found: String?

  /// Creates a place from literals, by default the caller's.
  public init(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    (self.fileID, path, self.line, self.column, found) = (fileID, filePath, line, column, nil)
  }

  init(_ place: SourcePlace, fileID: String, filePath: String, line: Int, column: Int) {
    (self.fileID, path, self.line, self.column) = (fileID, place.path, UInt(line), UInt(column))
    found = filePath
  }

  public var description: String { "\(fileID):\(line)" }

  /// True if both places are the same line and column of one file.
  public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
    left.fileID == right.fileID && left.line == right.line && left.column == right.column
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(fileID)
    hasher.combine(line)
    hasher.combine(column)
  }
}
