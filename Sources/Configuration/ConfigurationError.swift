// Reasons for refusing a configuration; the sentences are in `ConfigurationError+Message.swift`.
// Invariant: an error contains the file, and the key and the line if they are at fault.

import Arguments
import JSON

/// An error in a configuration.
public struct ConfigurationError: Error, Sendable, Hashable {
  /// Reason for the error.
  public enum Reason: Sendable, Hashable {
    /// Missing file.
    case notFound
    /// The file cannot be read; the text contains the failed call and its error.
    case unreadable(String)
    /// Not a regular file, such as a pipe, whose reading could block.
    case notAFile
    /// Too long.
    case tooLong
    /// Invalid JSON.
    case syntax(JSONFault.Reason)
    /// Unknown key, with the most similar known one.
    case unknownKey(suggestion: String?)
    /// Former name of a setting, with its present name.
    case renamedKey(String)
    /// Key that is set twice.
    case duplicateKey
    /// Value of another JSON type.
    case wrongKind(expected: Expected, found: JSONKind)
    /// Number that is not a whole number of 64 bits.
    case notWhole(String)
    /// Number that is not from 0 to 1, or has more than three decimal places.
    case notAFraction(String)
    case duration(String, DurationText.Failure)
    case speed(String, SpeedText.Failure)
    case language(String)
    /// Invalid address of a shared database. The error does not contain the address, because the address may
    /// contain a password.
    case address(StoreAddress.Fault)
    /// Value out of range. The value and both bounds are in the notation of the file.
    case outOfRange(String, from: String, to: String)
    /// The maximum retry delay of the bank or of a service is shorter than its initial delay.
    case retryOrder(first: String, limit: String)
    /// Missing key.
    case missing(String)
    /// Empty list or recipe.
    case empty
    /// List with more elements than this number.
    case tooMany(Int)
    /// Text that is empty, too long, or contains control characters, with the maximum number of characters.
    case badText(Int)
    /// Invalid id of a fruit, juice or drink.
    case badName(String)
    /// Invalid name of a service.
    case badServiceName(String)
    /// More services than this number.
    case tooManyServices(Int)
    /// Name or id that another item has.
    case duplicateName(String)
    /// Recipe with an unknown fruit, and the most similar known one.
    case unknownFruit(String, suggestion: String?)
    /// Empty list where a program and its arguments are required.
    case missingProgram
    /// Placeholder such as `{payload}` in a program that is started before it receives a customer.
    case placeholderOfCustomer(String)
    /// First word of a command if it is empty or a placeholder such as `{payload}`.
    case noProgram(String)
    /// Path that does not start with a slash.
    case notAbsolute(String)
    /// Invalid name of a variable, or one that the bank sets.
    case badVariable(String)
    /// Invalid umask.
    case badMask(String)
    /// Text that is neither an exit code nor the name of another kind of exit.
    case badExitKey(String)
    /// Argument, directory or value of a variable that is too long for execve(2), or contains a zero byte.
    case invalidArgument
    /// Service without a kind of work.
    case noKind
    /// Two kinds of work in one service, each with its line.
    case twoKinds(String, Int, String, Int)
    /// Setting that only services of other kinds have.
    case notOfKind(ServiceKind, of: [ServiceKind])
    /// Windows of a service with outside workers.
    case windowsOutside(String)
    /// Ledger that debits and credits the same account.
    case sameAccount(String)
    /// Program that was not found.
    case noSuchProgram(String)
    /// Program that cannot be executed, with the reason.
    case notExecutable(String, String)
    /// Text that is not one of the listed choices.
    case notAChoice(String, [String])
  }

  /// Kind of value that is expected where the file has another one.
  public enum Expected: Sendable, Hashable {
    case object, wholeNumber, bool, language, list, text
    /// Number from 0 to 1.
    case fraction
    /// Duration in quotes.
    case duration
    /// Number, number in quotes, or `"max"`.
    case speed
  }

  /// Path of the file, as passed to the reader.
  public var path: String
  /// The key with its groups: `log.keep_files`. For an unknown or renamed key, the key without its groups. Nil if no
  /// key is at fault.
  public var key: String?
  /// The line, from 1; nil if no line is at fault.
  public var line: Int?
  /// Reason for the error.
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
