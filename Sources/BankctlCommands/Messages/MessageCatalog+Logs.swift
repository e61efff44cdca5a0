// Sentences of `bankctl logs` in English and Korean,
// and the exit codes of its errors.
import Arguments
import Logging

extension MessageCatalog {
  /// Sentence: the value of `-n` is negative.
  func noNumberOfLines(_ count: Int) -> String {
    say(
      "-n must be 0 or more, not \(count).",
      "-n \(KoreanParticle.topic.on(String(count))) 줄 수가 아닙니다. 0 이상을 입력하세요.")
  }

  /// Sentence: the value of `--since` is not a time.
  func noMoment(_ text: String) -> String {
    let shown = LogPresentation.visible(text)
    return say(
      "--since '\(shown)' is not a time: write an age (5m), a time of today in UTC (08:30) or a date and time "
        + "(2026-11-21T08:30:00Z).",
      "--since \(KoreanParticle.topic.on("'\(shown)'")) 올바른 시각이 아닙니다. 경과 시간(5m), 오늘의 UTC 시각(08:30) 또는 날짜와 "
        + "시각(2026-11-21T08:30:00Z)을 입력하세요.")
  }

  /// Error of the command for logs that cannot be read.
  func commandFailure(about failure: LogFailure) -> CommandFailure {
    switch failure {
    case .noDirectory(let path):
      let shown = LogPresentation.visible(path)
      return CommandFailure(
        as: .notOpen,
        say(
          "There are no logs in \(shown): the bank has not been opened here. Open it with 'bankctl start', or choose "
            + "another home with --home.",
          "\(shown)에 로그가 없습니다. 여기서는 은행을 연 적이 없습니다. 'bankctl start'로 열거나 --home으로 다른 홈을 지정하세요."))
    case .unknownWorker(let name, let known): return noSuchLog(name, known)
    case .system(let error):
      return CommandFailure(
        as: .system, say("The logs cannot be read: \(error).", "로그를 읽을 수 없습니다: \(error)."))
    }
  }

  private func noSuchLog(_ name: String, _ known: [String]) -> CommandFailure {
    let shown = LogPresentation.visible(name)
    return CommandFailure(
      .noSuchLog,
      say("There is no log named '\(shown)'.", "'\(shown)' 로그가 없습니다.")
        + choice(instead: name, of: known, titled: say("Logs", "로그 목록")))
  }

  /// The names nearest to an unknown one, and the list of names: ` Did you mean 'stock'? Logs: stock, web.`
  func choice(instead name: String, of known: [String], titled title: String) -> String {
    let visible = LogPresentation.visible
    let near = Suggestions.nearest(to: name, among: known).map { "'\(visible($0))'" }.joined(separator: ", ")
    let names = known.prefix(20).map(visible).joined(separator: ", ")
    let all = known.isEmpty ? say("none", "없음") : known.count > 20 ? names + " …" : names
    let hint = near.isEmpty ? "" : say(" Did you mean \(near)?", " 혹시 \(near)인가요?")
    return hint + " \(title): \(all)."
  }
}
