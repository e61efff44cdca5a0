// Owns a JSON document as a tree in which every value knows its line, so that an error can point at it.
// It must not know which keys a configuration has.
// Invariant: members keep their order, a key that appears twice appears twice here, and a number keeps its digits.
// Failure: none; reading is `JSONReader`'s.

/// A value of a JSON document (RFC 8259).
struct JSONNode: Equatable {
  /// What a value can be.
  enum Content: Equatable {
    case null
    case bool(Bool)
    /// The digits as they are written: nothing is rounded.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A key with its value.
  struct Member: Equatable {
    var key: String
    /// The line of the key, from 1.
    var line: Int
    var value: JSONNode
  }

  var content: Content
  /// The line on which the value begins, from 1.
  var line: Int

  /// What kind of value this is.
  var kind: JSONKind {
    switch content {
    case .null: .null
    case .bool: .bool
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }
}

/// A kind of JSON value, as errors name it.
public enum JSONKind: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`
  case bool
  /// A number.
  case number
  /// A text in quotes.
  case string
  /// `[…]`
  case array
  /// `{…}`
  case object
}
