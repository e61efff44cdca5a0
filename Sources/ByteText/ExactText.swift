// Comparison of texts by their bytes. Swift strings are equal if they are canonically equivalent in Unicode
// (`é` as one scalar or as two); names of files and variables are the same only if their bytes are equal.
// Invariant: equal texts have equal bytes, and the order is that of the bytes.

/// A text that is compared by its bytes.
public struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text, whose bytes are compared.
  public let text: String

  public init(_ text: String) { self.text = text }

  public init(stringLiteral text: String) { self.text = text }

  /// Same as `text`.
  public var description: String { text }

  /// True if both have the same bytes.
  public static func == (one: ExactText, other: ExactText) -> Bool { one.text.hasSameBytes(as: other.text) }

  /// True if the bytes of `one` precede those of `other`.
  public static func < (one: ExactText, other: ExactText) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  /// Hashes the bytes, because `==` compares the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xff as UInt8)
  }
}

extension String {
  /// True if both have the same bytes.
  public func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Optional<String> {
  /// True if both are nil, or if both have the same bytes.
  public func hasSameBytes(as other: String?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let one?, let other?): one.hasSameBytes(as: other)
    default: false
    }
  }
}
