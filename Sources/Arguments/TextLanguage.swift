// The two languages a person may read, and a text that exists in both.
// Owns: the pair of wordings. Must not know where the choice of language comes from (option, environment):
// the caller decides that and hands the language in.
// Invariant: a text always has both wordings, so no page can ever be half translated at run time.

/// A language in which help, errors and documentation are written.
public enum TextLanguage: String, Sendable, Hashable, CaseIterable {
  case english
  case korean
}

/// A human text in every language of ``TextLanguage``.
///
/// A string literal makes a text that reads the same in both, which is right for numbers, names and symbols.
/// ``CommandTable/faults()`` tells where a sentence was left untranslated.
public struct Text: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The English wording.
  public var english: String
  /// The Korean wording.
  public var korean: String

  /// A text with both wordings, English first.
  public init(_ english: String, _ korean: String) { (self.english, self.korean) = (english, korean) }

  /// A text that reads the same in both languages.
  public init(stringLiteral value: String) { self.init(value, value) }

  /// The wording in one language.
  public subscript(language: TextLanguage) -> String { language == .english ? english : korean }
}
