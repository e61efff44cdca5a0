// Why a command line was not understood. Owns: every way a line can be wrong, with what is needed to say so.
// The sentences are in `UsageError+English` and `UsageError+Korean`. Must not know where the sentences are
// shown. Invariant: an error is a value; making or wording one never fails, whatever the input was.
import ByteText

/// A line that was not understood, with what a person needs to put it right.
public struct UsageError: Error, Sendable, Hashable {
  /// What a value belongs to.
  public enum Subject: Sendable, Hashable {
    /// An option, as it was written: `--deposit`, `-n`.
    case option(String)
    /// An operand, by its name in help: `N`.
    case operand(String)
  }

  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    /// Nothing but options, or nothing at all, was written.
    case missingCommand
    /// Words that begin commands but are none; with the words that can follow.
    case missingSubcommand(after: [String], choices: [String])
    /// A word that is no command. `under` holds the command words before it.
    case unknownCommand(String, under: [String], suggestions: [String])
    /// An option, as written, that the command does not have.
    case unknownOption(String, suggestions: [String])
    /// An unknown option, as written, after the first word of another command line that has no `--` before it.
    case optionWithoutDashes(String)
    /// An option without its value; `placeholder` is the value's word in help.
    case missingValue(option: String, placeholder: String)
    /// A value for an option that has none.
    case valueForFlag(option: String, value: String)
    case repeatedOption(String)
    /// Two options that exclude each other, as written.
    case conflictingOptions(String, String)
    /// An operand that is not there; `summary` says what belongs there.
    case missingOperand(name: String, summary: Text)
    /// One operand more than the command takes.
    case unexpectedOperand(String, expected: Int)
    /// An operand together with the option that stands in for it.
    case operandWithOption(operand: String, value: String, option: String)
    /// A value that is wrong.
    case invalidValue(Subject, ValueError)
  }

  /// What is wrong.
  public let reason: Reason
  /// The program's name.
  public let program: String
  /// The words of the command as far as they were understood.
  public let command: [String]

  /// An error of a program, at the words of a command (none when the command itself is the trouble).
  public init(_ reason: Reason, program: String, command: [String]) {
    (self.reason, self.program, self.command) = (reason, program, command)
  }

  /// Whether the overview belongs under the message: nothing was asked for, so that is the answer.
  public var wantsOverview: Bool { reason == .missingCommand }
  /// The command that helps: `depot put --help`.
  public var helpCommand: String { ([program] + command + ["--help"]).joined(separator: " ") }
  /// The command as a sentence names it: `depot put`.
  var commandLine: String { ([program] + command).joined(separator: " ") }

  /// The sentences: what failed, on what, why, what to do. One line, without a newline at the end.
  public func message(in language: TextLanguage) -> String {
    language == .english ? englishMessage : koreanMessage
  }

  /// The text in single quotes, made safe to show: control characters are spelled out, and what is longer than
  /// sixty characters is cut. A terminal obeys control characters, so input is never echoed raw.
  static func quoted(_ text: String) -> String {
    var shown = ""
    for (index, character) in ByteText.shown(text).enumerated() {
      if index == 60 {
        shown += "…"
        break
      }
      for scalar in character.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
          shown += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: shown.unicodeScalars.append(scalar)
        }
      }
    }
    return "'\(shown)'"
  }

  /// A number with commas between groups of three digits: `10,000,000`.
  static func grouped(_ number: Int64) -> String {
    var text = ""
    for (index, digit) in String(number.magnitude).reversed().enumerated() {
      if index > 0 && index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + String(text.reversed())
  }
}
