// Owns the comparison of texts by their bytes. Two texts of Swift's are equal if Unicode takes them for the same characters
// (`é` as one scalar or as two); two names of files or variables are the same only if their bytes are.
// Invariant: equal texts have equal bytes, and the order is the order of the bytes.

/// A text that is compared by its bytes.
public struct ExactText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text.
  public let text: String

  public init(_ text: String) { self.text = text }

  /// A text of the program's own.
  public init(stringLiteral text: String) { self.text = text }

  /// The text.
  public var description: String { text }

  /// Whether the bytes of both are the same.
  public static func == (one: ExactText, other: ExactText) -> Bool { one.text.hasSameBytes(as: other.text) }

  /// Whether the first byte in which they differ is the lower one.
  public static func < (one: ExactText, other: ExactText) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  /// Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xff as UInt8)
  }
}

extension String {
  /// Whether the bytes of both are the same.
  public func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Optional<String> {
  /// Whether there is neither, or the bytes of both are the same.
  public func hasSameBytes(as other: String?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let one?, let other?): one.hasSameBytes(as: other)
    default: false
    }
  }
}
