// Texts of the status display,
// and headings of the columns of tables.

extension MessageCatalog {
  /// A column of a table, or a number in a status, with a heading in both languages.
  enum Column: Sendable, CaseIterable {
    case issued, waiting, delayed, serving, served, dead, cancelled
    case service, windows, window, pid, generation, state, ticket, restarts, memory
    case day, grade, outcome, amount, finished, attempts, account, debit, credit, balance
    case setting, value, source
    case number, name, host, epoch, lease, rate, commits
  }

  func column(_ column: Column) -> String {
    switch column {
    case .issued: say("issued", "발급")
    case .waiting: say("waiting", "대기중")
    case .delayed: say("delayed", "예약")
    case .serving: say("serving", "업무중")
    case .served: say("served", "완료")
    case .dead: say("dead", "보류")
    case .cancelled: say("cancelled", "취소")
    case .service: say("service", "업무")
    case .windows, .window: say(column == .windows ? "windows" : "window", "창구")
    case .pid: "pid"
    case .generation: say("gen", "세대")
    case .state: say("state", "상태")
    case .ticket: say("ticket", "번호")
    case .restarts: say("restarts", "재시작")
    case .memory: say("memory", "메모리")
    case .day: say("day", "영업일")
    case .grade: say("grade", "등급")
    case .outcome: say("outcome", "결과")
    case .amount: say("amount", "금액")
    case .finished: say("finished at", "끝난 시각")
    case .attempts: say("attempts", "시도")
    case .account: say("account", "계좌")
    case .debit: say("debit", "차변")
    case .credit: say("credit", "대변")
    case .balance: say("balance", "잔액")
    case .setting: say("setting", "설정")
    case .value: say("value", "값")
    case .source: say("from", "출처")
    case .number: say("#", "번호")
    case .name: say("name", "이름")
    case .host: say("host", "호스트")
    case .epoch: say("epoch", "에포크")
    case .lease: say("lease", "리스")
    case .rate: say("/s", "초당")
    case .commits: say("commits", "커밋")
    }
  }

  var paused: String { say("paused", "일시 중지") }
  var failed: String { say("failed", "실패") }
  /// Number of a business day: `day 3`.
  func day(_ day: Int64) -> String { say("day \(day)", "영업 \(day)일차") }
  /// Generation of a process: `generation 2`.
  func generation(_ generation: Int64) -> String { say("generation \(generation)", "\(generation)세대") }
  /// Start time: `since 2026-11-27T08:43:06Z`.
  func since(_ instant: String) -> String { say("since \(instant)", "\(instant)부터") }
  /// Time for which the oldest waiting customer has waited.
  func oldest(_ span: String) -> String { say("oldest wait \(span)", "맨 앞 고객 \(span) 대기") }
  /// Sentence: a window cannot be opened, because its processes exit before they are ready.
  func failed(_ window: String, _ lastExit: String) -> String {
    say(
      "\(window) has failed: its workers exit before they are ready (last: \(lastExit)). See 'bankctl "
        + "logs', then try again with 'bankctl reload' or 'bankctl scale'.",
      "\(window) 창구를 열 수 없습니다. 워커가 준비되기 전에 종료됩니다(마지막: \(lastExit)). 'bankctl logs'를 확인한 뒤 "
        + "'bankctl reload'나 'bankctl scale'로 다시 시도하세요.")
  }

  /// Number of hidden rows of a screen.
  func moreRows(_ count: Int) -> String {
    say("… \(count) more \(count == 1 ? "row" : "rows")", "… \(count)줄 더 있음")
  }

  /// The number of hidden entries.
  func more(_ count: Int) -> String { say("+\(count) more", "외 \(count)개") }

  /// Sentence: the bank does not respond, with the time of the shown data.
  func bankIsSilent(since instant: String) -> String {
    say(
      "The bank does not respond. Last data: \(instant).", "은행이 응답하지 않습니다. 아래는 \(instant) 기준입니다.")
  }
}
