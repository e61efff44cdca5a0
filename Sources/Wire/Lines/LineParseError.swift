// Reasons for refusing a line, with the offset and a text for the author of the worker.
// Invariant: the offset counts from 0 at the start of the line.

/// Reason and offset of a refused line.
public struct LineParseError: Error, Equatable, Sendable {
  /// The broken rule.
  public let reason: Reason
  /// Offset of the fault in bytes, from 0 at the start of the line.
  public let byte: Int

  public init(_ reason: Reason, at byte: Int) { (self.reason, self.byte) = (reason, byte) }

  /// Rules of JSON and of the messages that a line can break.
  public enum Reason: Equatable, Sendable {
    /// Violations of JSON (RFC 8259); ``description`` has the meaning of each case. Half a surrogate pair is a
    /// bad escape.
    case endsEarly, trailing, notUTF8, controlCharacter, badEscape, badNumber
    /// This byte is not allowed here.
    case unexpected(UInt8)
    /// Arrays and objects are nested deeper than this limit.
    case tooDeep(limit: Int)
    /// The line is not one object with exactly one key, which is the kind of the message.
    case notObject, noKind, severalKinds
    /// The kind of the message, which is the payload, is unknown.
    case unknownKind(String)
    /// A required key is missing, or a known key occurs twice.
    case missing(String), twice(String)
    /// These two keys exclude each other.
    case together(String, String)
    /// The value of this key is invalid; the second string is the expected form.
    case wanted(String, String)
    /// Messages of this type have no line form.
    case noLines
  }
}

extension LineParseError: CustomStringConvertible {
  /// One sentence: the refusal, the offset and the reason.
  public var description: String { "refused the line at byte \(byte): \(reason)" }
}

extension LineParseError.Reason: CustomStringConvertible {
  /// The broken rule in words.
  public var description: String {
    switch self {
    case .endsEarly: "it ends in the middle of a value"
    case .trailing: "something follows the object"
    case .notUTF8: "it is not valid UTF-8"
    case .controlCharacter: "a string contains an unescaped control character"
    case .badEscape: "a string has an escape that JSON does not have, or half of a surrogate pair"
    case .badNumber: "a number is not written as JSON has it"
    case .unexpected(let byte): "\(Self.name(of: byte)) is not allowed here"
    case .tooDeep(let limit): "more than \(limit) objects and arrays are nested"
    case .notObject: "a line is one JSON object"
    case .noKind: "the object has no key; exactly one key names its kind"
    case .severalKinds: "the object has more than one key; exactly one key names its kind"
    case .unknownKind(let name): "'\(name)' is not a message of a worker"
    case .missing(let key): "'\(key)' is missing"
    case .twice(let key): "'\(key)' appears twice"
    case .together(let one, let other): "'\(one)' and '\(other)' exclude each other"
    case .wanted(let key, let what): "'\(key)' has to be \(what)"
    case .noLines: "this connection does not use lines"
    }
  }

  /// A byte in words: its character if it is printable.
  private static func name(of byte: UInt8) -> String {
    0x20 < byte && byte < 0x7f ? "'\(Unicode.Scalar(byte))'" : "byte \(byte)"
  }
}
