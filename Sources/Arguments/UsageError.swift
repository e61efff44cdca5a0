// Errors of a command line, with the data for their sentences.
// The sentences are in `UsageError+English` and `UsageError+Korean`.
import ByteText

/// An invalid command line, with the data that a user needs to correct it.
public struct UsageError: Error, Sendable, Hashable {
  /// Option or operand to which an invalid value belongs.
  public enum Subject: Sendable, Hashable {
    /// An option as written: `--deposit`, `-n`.
    case option(String)
    /// An operand by its name in help: `N`.
    case operand(String)
  }

  /// Reason for the error.
  public enum Reason: Sendable, Hashable {
    /// No command was given.
    case missingCommand
    /// Incomplete command, with the possible next words.
    case missingSubcommand(after: [String], choices: [String])
    /// Unknown command word. `under` contains the command words before it.
    case unknownCommand(String, under: [String], suggestions: [String])
    /// Unknown option of the command, as written.
    case unknownOption(String, suggestions: [String])
    /// Unknown option, as written, after the first argument of a command line to run that has no `--` before
    /// it.
    case optionWithoutDashes(String)
    /// Option without its value; `placeholder` is the placeholder in help.
    case missingValue(option: String, placeholder: String)
    /// Value for an option that takes none.
    case valueForFlag(option: String, value: String)
    /// An option that was given twice and may not be, by its long name with dashes.
    case repeatedOption(String)
    /// Two options that exclude each other, by their long names with dashes.
    case conflictingOptions(String, String)
    /// Missing operand; `summary` describes it.
    case missingOperand(name: String, summary: Text)
    /// One operand more than the command takes.
    case unexpectedOperand(String, expected: Int)
    /// Operand together with the option that replaces it.
    case operandWithOption(operand: String, value: String, option: String)
    /// Invalid value.
    case invalidValue(Subject, ValueError)
  }

  /// Reason for the error.
  public let reason: Reason
  /// The program's name.
  public let program: String
  /// The recognised words of the command.
  public let command: [String]

  /// Creates an error. `command` contains the command words that were recognised before the error.
  public init(_ reason: Reason, program: String, command: [String]) {
    (self.reason, self.program, self.command) = (reason, program, command)
  }

  /// True if the caller should print the overview before the message, because no command was given.
  public var wantsOverview: Bool { reason == .missingCommand }
  /// The command for help: `depot put --help`.
  public var helpCommand: String { ([program] + command + ["--help"]).joined(separator: " ") }
  /// The command in a sentence: `depot put`.
  var commandLine: String { ([program] + command).joined(separator: " ") }

  /// The sentences about the error and its help page, on one line.
  public func message(in language: TextLanguage) -> String {
    language == .english ? englishMessage : koreanMessage
  }

  /// The text in single quotes. Control characters are escaped, because a terminal would obey them, and a long text
  /// is cut.
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
