// Owns the ways in which a configuration can be refused.
// It must not know how a file is read; the sentences are in `ConfigurationError+Message.swift`.
// Invariant: every error names the file, and the key and the line where there is one.
// Failure: this is how failure looks. Nothing of a refused file is used.

import Arguments

/// Why a configuration was refused.
public struct ConfigurationError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    /// There is no such file.
    case notFound
    /// The system did not let the file be read; the text says which call failed and why.
    case unreadable(String)
    /// What has this name is no file but a device, or a pipe that would be waited for.
    case notAFile
    /// The file is longer than a configuration can be, 1 MiB.
    case tooLong
    /// The file is no JSON.
    case syntax(JSONFault.Reason)
    /// A key that means nothing, with the nearest one that means something.
    case unknownKey(suggestion: String?)
    /// A key that appears twice in one object.
    case duplicateKey
    /// A value of another kind than the key needs.
    case wrongKind(expected: Expected, found: JSONKind)
    /// A number that is not whole, or does not fit.
    case notWhole(String)
    /// A text that is no length of time.
    case duration(String, DurationText.Failure)
    /// A text or number that is no speed.
    case speed(String, SpeedText.Failure)
    /// A language that the branch does not speak.
    case language(String)
    /// A value outside of its bounds; all three as they are written.
    case outOfRange(String, from: String, to: String)
    /// `retry_limit` is shorter than `retry_first`.
    case retryOrder(first: String, limit: String)
    /// A key that has to be there and is not.
    case missing(String)
    /// A list or a recipe of nothing.
    case empty
    /// A list or a recipe of more than so many.
    case tooMany(Int)
    /// A text that is empty, longer than so many letters, or not on one line.
    case badText(Int)
    /// A name that no item can have.
    case badName(String)
    /// A name that another one has already.
    case nameTwice(String)
    /// A recipe names a fruit that there is not, with the nearest one that there is.
    case unknownFruit(String, suggestion: String?)
    /// A text that is none of those that there are.
    case notAChoice(String, [String])
  }

  /// What a key needs.
  public enum Expected: Sendable, Hashable {
    /// `{…}`
    case object
    /// A whole number.
    case wholeNumber
    /// `true` or `false`
    case bool
    /// A length of time in quotes.
    case duration
    /// A number, a number in quotes, or `"max"`.
    case speed
    /// `"ko"` or `"en"`.
    case language
    /// `[…]`
    case list
    /// A text in quotes.
    case text
  }

  /// The file as it was named.
  public var path: String
  /// The key with those above it: `log.keep`; nil where no key is to blame.
  public var key: String?
  /// The line, from 1; nil where no line is to blame.
  public var line: Int?
  /// What is wrong.
  public var reason: Reason

  /// An error in a file.
  public init(path: String, key: String? = nil, line: Int? = nil, reason: Reason) {
    self.path = path
    self.key = key
    self.line = line
    self.reason = reason
  }
}

extension ConfigurationError: CustomStringConvertible {
  /// The English sentence.
  public var description: String { message(in: .english) }
}
