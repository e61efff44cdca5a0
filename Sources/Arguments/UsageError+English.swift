// The English sentences of usage errors.
// Invariant: one line with the object, the reason and, where possible, the remedy. The last sentence names the help
// page.
import ByteText

extension UsageError {
  /// The English message: the sentence about the error, and the command that prints the help page.
  var englishMessage: String { "\(englishSentence) See '\(helpCommand)'." }

  /// The English sentence about the error, without the reference to the help page.
  private var englishSentence: String {
    switch reason {
    case .missingCommand: return "'\(program)' needs a command."
    case .missingSubcommand(let words, let choices):
      let words = ([program] + words).joined(separator: " ")
      return "'\(words)' needs one more word: \(choices.joined(separator: ", "))."
    case .unknownCommand(let word, let under, let suggestions):
      let whole = (under + [word]).joined(separator: " ")
      let meant = suggestions.map { (under + [$0]).joined(separator: " ") }
      return "Unknown command \(Self.quoted(whole)).\(Self.didYouMean(meant))"
    case .unknownOption(let option, let suggestions):
      return "Unknown option \(Self.quoted(option)) for '\(commandLine)'.\(Self.didYouMean(suggestions))"
    case .optionWithoutDashes(let option):
      return "Unknown option \(Self.quoted(option)) for '\(commandLine)'. Put -- before the command."
    case .missingValue(let option, let placeholder):
      return "Option \(option) needs a value: write '\(option) \(placeholder)'."
    case .valueForFlag(let option, let value):
      return "Option \(option) takes no value, but was given \(Self.quoted(value)): use '\(option)' alone."
    case .repeatedOption(let option): return "Option \(option) was given more than once: use it once."
    case .conflictingOptions(let first, let second):
      return "Options \(first) and \(second) conflict: use only one of them."
    case .missingOperand(let name, let summary):
      return "'\(commandLine)' needs \(name) (\(Self.remark(summary.english)))."
    case .unexpectedOperand(let word, let expected):
      return "\(Self.quoted(word)) is one argument too many: '\(commandLine)' takes \(Self.count(expected))."
    case .operandWithOption(let operand, let value, let option):
      return "\(operand) (\(Self.quoted(value))) and \(option) conflict: use only one of them."
    case .invalidValue(let subject, let error): return Self.english(subject.name, error)
    }
  }

  /// Sentence about an invalid value of the option or operand with this name.
  private static func english(_ name: String, _ error: ValueError) -> String {
    switch error {
    case .empty: return "\(name) must not be empty."
    case .invalidUTF8Byte(let text, let byte, let offset):
      return
        "\(name) must be text in UTF-8, but its byte \(offset + 1) is \(ByteText.escapedByte(byte)): \(quoted(text)). Write it in UTF-8."
    case .notANumber(let text, let range):
      return "\(name) \(quoted(text)) is not a number. Write a whole number \(english(range))."
    case .outOfRange(let text, let range): return "\(name) must be \(english(range)), not \(shortened(text))."
    case .notAChoice(let text, let choices, let suggestions):
      let list = choices.joined(separator: ", ")
      let rule = choices.count == 1 ? "must be \(list)" : "must be one of \(list)"
      return "\(name) \(rule), not \(quoted(text)).\(didYouMean(suggestions))"
    case .neitherNumberNorWord(let text, let range, let words):
      let list = words.joined(separator: " or ")
      return "\(name) must be a whole number \(english(range)) or \(list), not \(quoted(text))."
    case .duration(let text, let failure):
      return "\(name) \(quoted(text)) is not a duration. \(english(failure))"
    case .speed(let text, let failure): return "\(name) \(quoted(text)) is not a speed. \(english(failure))"
    case .notADate(let text):
      return "\(name) \(quoted(text)) is not a date. Write a day that exists, such as 2026-07-01."
    case .notAnAssignment(let text):
      return "\(name) \(quoted(text)) is not of the form NAME=N. Write a name, '=' and a whole number."
    case .inAssignment(let inner, let error): return english(inner, error)
    }
  }

  /// The first sentence of a summary, to be put in parentheses: without its initial capital and its full stop.
  private static func remark(_ summary: String) -> String {
    var text = summary[...]
    if let end = text.firstRange(of: ". ") { text = text[..<end.lowerBound] }
    if text.hasSuffix(".") { text.removeLast() }
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Words for a range that follow "a whole number" or "must be": `between 1 and 9`.
  private static func english(_ range: ClosedRange<Int64>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "that fits in 64 bits"
    case (let low, .max): "at least \(grouped(low))"
    case (.min, let high): "at most \(grouped(high))"
    case (let low, let high) where low == high: "exactly \(grouped(low))"
    case (let low, let high): "between \(grouped(low)) and \(grouped(high))"
    }
  }

  /// Advice about an invalid duration.
  static func english(_ failure: DurationText.Failure) -> String {
    switch failure {
    case .empty, .malformed: "Write a number with its unit, such as 700ms, 1.1s, 5m or 1m30s."
    case .negative: "A duration cannot be negative; write 0s or more."
    case .missingUnit: "The unit is missing; write 5s or 700ms."
    case .unknownUnit(let unit): "There is no unit \(quoted(unit)); the units are d, h, m, s, ms, us and ns."
    case .unitsOutOfOrder: "Units go from large to small and appear once, as in 1m30s."
    case .tooFine: "Nothing finer than a nanosecond is measured; write fewer digits."
    case .tooLong: "The longest duration is about 292 years; write a shorter one."
    }
  }

  /// Advice about an invalid speed.
  static func english(_ failure: SpeedText.Failure) -> String {
    switch failure {
    case .malformed: "Write a number above 0, such as 10 or 0.5, or max."
    case .negative: "A speed cannot be negative; write a number above 0, or max."
    case .zero: "At speed 0 nothing would ever end; write a number above 0, or max for no waiting at all."
    case .tooFine: "A speed has at most three digits after the point."
    case .tooLarge: "The largest speed is 1,000,000,000; write max for no waiting at all."
    }
  }

  /// Question that offers the suggested words; empty without any.
  private static func didYouMean(_ words: [String]) -> String {
    switch words.count {
    case 0: ""
    case 1: " Did you mean '\(words[0])'?"
    default:
      " Did you mean " + words.dropLast().map { "'\($0)'" }.joined(separator: ", ")
        + " or '\(words[words.count - 1])'?"
    }
  }

  /// Words for the number of arguments that a command takes.
  private static func count(_ operands: Int) -> String {
    switch operands {
    case 0: "none"
    case 1: "only one"
    default: "only \(operands)"
    }
  }
}

extension UsageError.Subject {
  /// The option or operand as the message writes it.
  var name: String {
    switch self {
    case .option(let name), .operand(let name): name
    }
  }
}

extension UsageError {
  /// The digits, without quotes and truncated if there are many. Digits need no escapes.
  static func shortened(_ digits: String) -> String {
    digits.count > 40 ? String(digits.prefix(40)) + "…" : digits
  }
}
