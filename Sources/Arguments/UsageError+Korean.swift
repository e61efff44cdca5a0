// The Korean sentences of usage errors.
// Invariant: one line with the object, the reason and, where possible, the remedy. The last sentence names the help
// page. `KoreanParticle` chooses a particle after an inserted word. Statements end in -습니다 and requests in -세요.
import ByteText

extension UsageError {
  /// The Korean message: the sentence about the error, and the command that prints the help page.
  var koreanMessage: String { "\(koreanSentence) '\(helpCommand)' 명령으로 사용법을 볼 수 있습니다." }

  /// The Korean sentence about the error, without the reference to the help page.
  private var koreanSentence: String {
    switch reason {
    case .missingCommand: return "'\(program)' 뒤에 명령이 없습니다."
    case .missingSubcommand(let words, let choices):
      let words = ([program] + words).joined(separator: " ")
      return "'\(words)' 뒤에 하위 명령이 필요합니다: \(choices.joined(separator: ", "))."
    case .unknownCommand(let word, let under, let suggestions):
      let whole = (under + [word]).joined(separator: " ")
      let meant = suggestions.map { (under + [$0]).joined(separator: " ") }
      return "알 수 없는 명령입니다: \(Self.quoted(whole)).\(Self.didYouMeanInKorean(meant))"
    case .unknownOption(let option, let suggestions):
      return "'\(commandLine)' 명령에 없는 옵션입니다: \(Self.quoted(option)).\(Self.didYouMeanInKorean(suggestions))"
    case .optionWithoutDashes(let option):
      return "'\(commandLine)' 명령에 없는 옵션입니다: \(Self.quoted(option)). 실행할 명령 앞에 --를 쓰세요."
    case .missingValue(let option, let placeholder):
      return "\(option) 옵션에는 값이 필요합니다: '\(option) \(placeholder)' 형식으로 쓰세요."
    case .valueForFlag(let option, let value):
      return "\(option) 옵션은 값을 받지 않습니다 (받은 값: \(Self.quoted(value))). '\(option)'만 쓰세요."
    case .repeatedOption(let option): return "\(option) 옵션이 두 번 이상 쓰였습니다. 한 번만 쓰세요."
    case .conflictingOptions(let first, let second): return "\(first) 옵션과 \(second) 옵션은 함께 쓸 수 없습니다. 하나만 쓰세요."
    case .missingOperand(let name, let summary):
      return "'\(commandLine)' 명령에 \(name) 인수가 필요합니다(\(Self.remark(summary.korean)))."
    case .unexpectedOperand(let word, let expected):
      let whose = KoreanParticle.topic.on(Self.quoted(word))
      return "\(whose) 필요 없는 인수입니다. '\(commandLine)' 명령\(Self.amount(expected))."
    case .operandWithOption(let operand, let value, let option):
      return "\(operand) 인수(\(Self.quoted(value)))와 \(option) 옵션은 함께 쓸 수 없습니다. 하나만 쓰세요."
    case .invalidValue(let subject, let error): return Self.korean(subject.name, error)
    }
  }

  /// Sentence about an invalid value of the option or operand with this name.
  private static func korean(_ name: String, _ error: ValueError) -> String {
    switch error {
    case .empty: return "\(name) 값은 비어 있을 수 없습니다."
    case .invalidUTF8Byte(let text, let byte, let offset):
      return
        "\(name) 값은 UTF-8 텍스트여야 하지만 \(offset + 1)번째 바이트가 \(ByteText.escapedByte(byte))입니다: \(quoted(text)). UTF-8로 쓰세요."
    case .notANumber(let text, let range):
      return "\(name) 값이 숫자가 아닙니다: \(quoted(text)). \(korean(range)) 정수를 쓰세요."
    case .outOfRange(let text, let range):
      return "\(name) 값은 \(korean(range)) 정수여야 합니다 (받은 값: \(shortened(text)))."
    case .notAChoice(let text, let choices, let suggestions):
      let list = choices.joined(separator: ", ")
      return "\(name) 값은 다음 중 하나여야 합니다: \(list) (받은 값: \(quoted(text))).\(didYouMeanInKorean(suggestions))"
    case .neitherNumberNorWord(let text, let range, let words):
      let list = words.joined(separator: ", ")
      return "\(name) 값은 \(korean(range)) 정수이거나 다음 중 하나여야 합니다: \(list) (받은 값: \(quoted(text)))."
    case .duration(let text, let failure): return "\(name) 값이 시간이 아닙니다: \(quoted(text)). \(korean(failure))"
    case .speed(let text, let failure): return "\(name) 값이 속도가 아닙니다: \(quoted(text)). \(korean(failure))"
    case .notADate(let text): return "\(name) 값이 날짜가 아닙니다: \(quoted(text)). 2026-07-01처럼 실제로 있는 날짜를 쓰세요."
    case .notAnAssignment(let text):
      return "\(name) 값이 NAME=N 형식이 아닙니다: \(quoted(text)). 이름, '=', 정수를 붙여 쓰세요."
    case .inAssignment(let inner, let error): return korean(inner, error)
    }
  }

  /// The first sentence of a summary, to be put in parentheses: without its full stop and a final 입니다.
  private static func remark(_ summary: String) -> String {
    var text = summary[...]
    if let end = text.firstRange(of: ". ") { text = text[..<end.lowerBound] }
    if text.hasSuffix(".") { text.removeLast() }
    if text.hasSuffix("입니다") { text.removeLast(3) }
    return String(text)
  }

  /// Words for a range, which precede the word for a whole number.
  private static func korean(_ range: ClosedRange<Int64>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "64비트에 들어가는"
    case (let low, .max): "\(grouped(low)) 이상의"
    case (.min, let high): "\(grouped(high)) 이하의"
    case (let low, let high) where low == high: "\(grouped(low)) 하나뿐인"
    case (let low, let high): "\(grouped(low)) 이상 \(grouped(high)) 이하의"
    }
  }

  /// Advice about an invalid duration.
  static func korean(_ failure: DurationText.Failure) -> String {
    switch failure {
    case .empty, .malformed: "700ms, 1.1s, 5m, 1m30s처럼 숫자와 단위를 쓰세요."
    case .negative: "시간은 음수일 수 없습니다. 0s 이상을 쓰세요."
    case .missingUnit: "단위가 없습니다. 5s 또는 700ms처럼 쓰세요."
    case .unknownUnit(let unit): "\(quoted(unit)) 단위는 없습니다. 단위는 d, h, m, s, ms, us, ns 입니다."
    case .unitsOutOfOrder: "단위는 1m30s처럼 큰 것부터 한 번씩만 쓰세요."
    case .tooFine: "나노초보다 작은 시간은 다루지 않습니다. 자릿수를 줄이세요."
    case .tooLong: "가장 긴 시간은 약 292년입니다. 더 짧게 쓰세요."
    }
  }

  /// Advice about an invalid speed.
  static func korean(_ failure: SpeedText.Failure) -> String {
    switch failure {
    case .malformed: "10, 0.5처럼 0보다 큰 수나 max를 쓰세요."
    case .negative: "속도는 음수일 수 없습니다. 0보다 큰 수나 max를 쓰세요."
    case .zero: "속도가 0이면 아무것도 끝나지 않습니다. 0보다 큰 수를 쓰거나, 기다리지 않으려면 max를 쓰세요."
    case .tooFine: "속도는 소수점 아래 세 자리까지만 쓸 수 있습니다."
    case .tooLarge: "가장 큰 속도는 1,000,000,000입니다. 기다리지 않으려면 max를 쓰세요."
    }
  }

  /// Question that offers the suggested words; empty without any.
  private static func didYouMeanInKorean(_ words: [String]) -> String {
    words.isEmpty ? "" : " 혹시 " + words.map { "'\($0)'" }.joined(separator: " 또는 ") + "인가요?"
  }

  /// Words for the number of arguments that a command takes, with the particle before them.
  private static func amount(_ operands: Int) -> String {
    operands == 0 ? "은 인수를 받지 않습니다" : "의 인수는 \(operands)개까지입니다"
  }
}
