// Owns the sentences and exit codes of `bankctl logs`.
// Invariant: every refusal has a sentence of one line in both languages, safe to show on a terminal.
import Arguments
import BankModel
import Logbook

extension LogsCommand.Refusal {
  /// A number of lines below nothing.
  static func lines(_ count: Int, _ language: Language) -> Self {
    let message =
      switch language {
      case .english: "-n \(count) is no number of lines: give 0 or more."
      case .korean: "-n \(Particle.topic.on(String(count))) 줄 수가 아닙니다. 0 이상을 주세요."
      }
    return Self(code: "usage", exit: 2, message: message)
  }

  /// What is no moment.
  static func moment(_ text: String, _ language: Language) -> Self {
    let shown = LogPresentation.visible(text)
    let message =
      switch language {
      case .english:
        "--since '\(shown)' is no moment: write how long ago (5m), a time of today in UTC (08:30) or a "
          + "date and time (2026-11-21T08:30:00Z)."
      case .korean:
        "--since \(Particle.topic.on("'\(shown)'")) 시점이 아닙니다. 얼마 전인지(5m), 오늘의 UTC 시각(08:30) 또는 날짜와 "
          + "시각(2026-11-21T08:30:00Z)을 적으세요."
      }
    return Self(code: "usage", exit: 2, message: message)
  }

  /// What the logs say.
  static func logs(_ failure: LogFailure, _ language: Language) -> Self {
    switch failure {
    case .noDirectory(let path): nothing(in: path, language)
    case .unknownWorker(let name, let known): stranger(name, known, language)
    case .system(let error):
      Self(
        code: "system", exit: 1,
        message: language == .english ? "The logs cannot be read: \(error)." : "기록을 읽을 수 없습니다: \(error).")
    }
  }

  private static func nothing(in path: String, _ language: Language) -> Self {
    let shown = LogPresentation.visible(path)
    let message =
      switch language {
      case .english:
        "There are no logs in \(shown): the bank has not been opened here. Open it with 'bankctl start', or "
          + "name another home with --home."
      case .korean: "\(shown)에 기록이 없습니다. 여기서는 은행을 연 적이 없습니다. 'bankctl start'로 열거나 --home으로 다른 홈을 지정하세요."
      }
    return Self(code: "not_open", exit: 3, message: message)
  }

  private static func stranger(_ name: String, _ known: [String], _ language: Language) -> Self {
    let shown = LogPresentation.visible(name)
    let near = Suggestions.nearest(to: name, among: known).map { "'\(LogPresentation.visible($0))'" }
      .joined(separator: ", ")
    let names = known.prefix(20).map { LogPresentation.visible($0) }.joined(separator: ", ")
    let all = known.count > 20 ? names + " …" : names
    let message =
      switch (language, near.isEmpty) {
      case (.english, false): "No worker '\(shown)' has a log. Did you mean \(near)? There are: \(all)."
      case (.english, true): "No worker '\(shown)' has a log. There are: \(known.isEmpty ? "none" : all)."
      case (.korean, false): "'\(shown)'의 기록이 없습니다. 혹시 \(near)인가요? 있는 기록: \(all)."
      case (.korean, true): "'\(shown)'의 기록이 없습니다. 있는 기록: \(known.isEmpty ? "없음" : all)."
      }
    return Self(code: "no_such_worker", exit: 4, message: message)
  }
}
