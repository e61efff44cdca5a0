// Owns the ways in which a configuration can be refused; the sentences are in `ConfigurationError+Message.swift`.
// Invariant: every error names the file, and the key and the line where there is one. Nothing of a refused file is used.

import Arguments
import JSON

/// Why a configuration was refused.
public struct ConfigurationError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    case notFound
    /// The system did not let the file be read; the text says which call failed and why.
    case unreadable(String)
    /// What has this name is no file but a device, or a pipe that would be waited for.
    case notAFile
    /// The file is longer than a configuration can be, 1 MiB.
    case tooLong
    case syntax(JSONFault.Reason)
    /// A key that means nothing, with the nearest one that means something.
    case unknownKey(suggestion: String?)
    case duplicateKey
    /// A value of another kind than the key needs.
    case wrongKind(expected: Expected, found: JSONKind)
    /// A number that is not whole, or does not fit.
    case notWhole(String)
    /// A number that is not from 0 to 1, or has more than three places.
    case notAFraction(String)
    case duration(String, DurationText.Failure)
    case speed(String, SpeedText.Failure)
    case language(String)
    /// No address of shared books. What was written is not repeated.
    case address(StoreAddress.Fault)
    /// A value outside of its bounds; all three as they are written.
    case outOfRange(String, from: String, to: String)
    /// `retry_limit` is shorter than `retry_first`.
    case retryOrder(first: String, limit: String)
    case missing(String)
    /// A list or a recipe of nothing.
    case empty
    case tooMany(Int)
    /// A text that is empty, longer than so many letters, or not on one line.
    case badText(Int)
    case badName(String)
    case badServiceName(String)
    /// More services than there may be.
    case tooManyServices(Int)
    case nameTwice(String)
    /// A recipe names a fruit that there is not, with the nearest one that there is.
    case unknownFruit(String, suggestion: String?)
    /// A program without its name.
    case noWords
    /// What stands for something of a customer, where the program is started before there is one.
    case wordOfCustomer(String)
    /// The first word of a command is empty, or stands for what a customer brings.
    case noProgram(String)
    /// A path that does not begin with a slash.
    case notAbsolute(String)
    /// The name of a variable that none can have, or that the bank sets.
    case badVariable(String)
    /// What is no mask of new files.
    case badMask(String)
    /// What is no exit code and no name of another ending.
    case badEnding(String)
    /// A word that no program can be given: too long, or with a zero byte.
    case badWord
    /// A service that does not say what serves its customers.
    case noKind
    /// Two kinds of work in one service, each with its line.
    case twoKinds(String, Int, String, Int)
    /// What is said of services of some kinds, in one of another.
    case notOfKind(ServiceKind, of: [ServiceKind])
    /// Windows of a service whose programs connect by themselves.
    case windowsOutside(String)
    /// A ledger that debits and credits one account.
    case sameAccount(String)
    /// No program of this name.
    case noSuchProgram(String)
    /// A program that is there and cannot be run; the text says why.
    case notExecutable(String, String)
    /// A text that is none of those that there are.
    case notAChoice(String, [String])
  }

  /// What a key needs.
  public enum Expected: Sendable, Hashable {
    case object, wholeNumber, bool, language, list, text
    /// A number from 0 to 1.
    case fraction
    /// A length of time in quotes.
    case duration
    /// A number, a number in quotes, or `"max"`.
    case speed
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
