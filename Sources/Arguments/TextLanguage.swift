// The two languages, and a text in both.
// Invariant: a text has a wording for each language.

/// A language of help, errors and documentation.
public enum TextLanguage: String, Sendable, Hashable, CaseIterable {
  case english
  case korean
}

/// A text for users in both languages.
///
/// A string literal makes a text that is the same in both languages, for numbers, names and symbols.
public struct Text: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The English wording.
  public var english: String
  /// The Korean wording.
  public var korean: String

  /// A text with both wordings, English first.
  public init(_ english: String, _ korean: String) { (self.english, self.korean) = (english, korean) }

  /// A text that is the same in both languages.
  public init(stringLiteral value: String) { self.init(value, value) }

  /// The wording in one language.
  public subscript(language: TextLanguage) -> String { language == .english ? english : korean }
}
