// The words that belong to help itself rather than to any command: headings and notes.
// Owns: their wording in both languages. Must not know any page's layout.
// Invariant: every word a page shows comes from here or from the table, so no page is half translated.

/// The fixed words of help pages and of the documentation's list.
enum HelpMessages {
  static let usage = Text("Usage", "사용법")
  static let examples = Text("Examples", "예")
  static let description = Text("Description", "설명")
  static let commands = Text("Commands", "명령")
  static let operands = Text("Operands", "값")
  static let ownOptions = Text("Options", "옵션")
  static let globalOptions = Text("Options of every command", "모든 명령의 옵션")
  static let sharedOptions = Text("Options of several commands", "여러 명령의 옵션")
  static let exitCodes = Text("Exit codes", "종료 코드")
  static let command = Text("COMMAND", "명령")
  static let options = Text("[OPTIONS]", "[옵션]")
  static let option = Text("Option", "옵션")
  static let meaning = Text("Meaning", "뜻")
  static let defaultIs = Text("default", "기본값")
  static let environment = Text("environment", "환경 변수")
  static let repeatable = Text("may be repeated", "여러 번 쓸 수 있음")
  static let notWith = Text("not with", "함께 쓸 수 없음")

  /// How to get to a command's page.
  static func more(_ program: String) -> Text {
    Text("See '\(program) COMMAND --help' for one command.", "한 명령의 사용법은 '\(program) 명령 --help'로 볼 수 있습니다.")
  }

  /// A range in a few words.
  static func range(_ range: ClosedRange<Int64>) -> Text {
    let low = UsageError.grouped(range.lowerBound)
    let high = UsageError.grouped(range.upperBound)
    return switch (range.lowerBound, range.upperBound) {
    case (.min, .max): Text("any whole number", "모든 정수")
    case (_, .max): Text("\(low) or more", "\(low) 이상")
    case (.min, _): Text("\(high) or less", "\(high) 이하")
    default: Text("\(low) to \(high)", "\(low)부터 \(high)까지")
    }
  }
}
