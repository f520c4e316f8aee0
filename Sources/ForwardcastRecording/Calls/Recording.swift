// Recording.swift: recorded calls as one value.

import ForwardcastCoding

/// Recorded calls in the order in which they began, as a ``CallRecorder`` returns them. A recording
/// is `Codable` and can be compared with ``isEqual(to:)``.
///
///     let before = recorder.recording
///     print(before)  // a line for each call; nested calls are indented
///     // with ForwardcastScript: a message script that sends the calls again:
///     let text = try before.script()
public struct Recording: Codable, CustomStringConvertible {
  /// All calls in the order in which they began: an enclosing call precedes its nested calls.
  public var calls: [RecordedCall]

  /// Creates a recording of calls, in the order in which they began.
  public init(_ calls: [RecordedCall] = []) { self.calls = calls }

  /// The calls that are not nested in another recorded call.
  public var outermostCalls: [RecordedCall] { calls.filter { $0.depth == 0 } }

  /// True if the calls are equal and in the same order. `nil` if they differ at most in values that
  /// cannot be compared: see ``RecordedCall/isEqual(to:)``.
  public func isEqual(to other: Recording) -> Bool? {
    guard calls.count == other.calls.count else { return false }
    return areAllEqual(zip(calls, other.calls).map { $0.isEqual(to: $1) })
  }

  /// The version of the format that ``encode(to:)`` writes. Earlier versions can be decoded.
  public static let formatVersion = 2

  private enum CodingKeys: String, CodingKey { case version, calls }

  /// Decodes the calls. In version 1 of the format, a recording was an array of calls.
  /// - Throws: `DecodingError.dataCorrupted` for a later ``formatVersion``, and the errors of
  ///   `RecordedCall.init(from:)`.
  public init(from decoder: any Decoder) throws {
    if (try? decoder.unkeyedContainer()) != nil {
      calls = try [RecordedCall](from: decoder)
      return
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let version = try container.decode(Int.self, forKey: .version)
    guard (2...Recording.formatVersion).contains(version) else {
      throw DecodingError.dataCorruptedError(
        forKey: .version, in: container,
        debugDescription:
          "the recording has format version \(version), but this version of Forwardcast reads versions up to "
          + "\(Recording.formatVersion); read it with the version of Forwardcast that wrote it, or a later one")
    }
    calls = try container.decode([RecordedCall].self, forKey: .calls)
  }

  /// Encodes the format version and the calls.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Recording.formatVersion, forKey: .version)
    try container.encode(calls, forKey: .calls)
  }

  /// A line for each call, indented by two spaces for each enclosing call, up to 64 times.
  public var description: String { calls.map { $0.indentation + $0.description }.joined(separator: "\n") }
}
