// Owns the ways in which a line can be refused, with the place, and their wording, which a worker's author reads.
// Invariant: the byte counts from 0 at the beginning of the line. Whoever receives one of these ends the connection it came
// from and touches nothing else.

/// Why a line was refused, and where.
public struct LineFault: Error, Equatable, Sendable {
  /// The rule that was broken.
  public let reason: Reason
  /// The byte at which it was found, counted from 0 at the beginning of the line.
  public let byte: Int

  /// A fault at a place.
  public init(_ reason: Reason, at byte: Int) { (self.reason, self.byte) = (reason, byte) }

  /// The rules of JSON and of the messages that a line can break.
  public enum Reason: Equatable, Sendable {
    /// Rules of JSON (RFC 8259), as ``description`` says them. Half a surrogate pair is a bad escape.
    case endsEarly, trailing, notUTF8, controlCharacter, badEscape, badNumber
    /// This byte cannot stand here.
    case unexpected(UInt8)
    /// More arrays and objects inside one another than this.
    case tooDeep(limit: Int)
    /// A line is one object with one key, which says the kind.
    case notObject, noKind, severalKinds
    case unknownKind(String)
    /// A key that is needed is not there, or one that is known is there twice.
    case missing(String), twice(String)
    /// Only one of two keys may be there.
    case together(String, String)
    /// The value of this key is not what it has to be.
    case wanted(String, String)
    /// Messages of this type have no lines.
    case noLines
  }
}

extension LineFault: CustomStringConvertible {
  /// One sentence: what was refused, where and why.
  public var description: String { "refused the line at byte \(byte): \(reason)" }
}

extension LineFault.Reason: CustomStringConvertible {
  /// The broken rule in words.
  public var description: String {
    switch self {
    case .endsEarly: "it ends in the middle of a value"
    case .trailing: "something follows the object"
    case .notUTF8: "it is not valid UTF-8"
    case .controlCharacter: "a control character stands in a string without being escaped"
    case .badEscape: "a string has an escape that JSON does not have, or half of a surrogate pair"
    case .badNumber: "a number is not written as JSON has it"
    case .unexpected(let byte): "\(Self.name(of: byte)) cannot stand here"
    case .tooDeep(let limit): "more than \(limit) objects and arrays stand inside one another"
    case .notObject: "a line is one JSON object"
    case .noKind: "the object has no key; exactly one says what it is"
    case .severalKinds: "the object has more than one key; exactly one says what it is"
    case .unknownKind(let name): "'\(name)' is nothing that a worker says"
    case .missing(let key): "'\(key)' is missing"
    case .twice(let key): "'\(key)' stands there twice"
    case .together(let one, let other): "'\(one)' and '\(other)' exclude each other"
    case .wanted(let key, let what): "'\(key)' has to be \(what)"
    case .noLines: "nothing is said in lines on this connection"
    }
  }

  private static func name(of byte: UInt8) -> String {
    0x20 < byte && byte < 0x7f ? "'\(Unicode.Scalar(byte))'" : "byte \(byte)"
  }
}
