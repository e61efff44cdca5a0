// Owns the words for what is in a branch: states, columns, numbers, times, and what an audit adds up.
// Invariant: the Korean words for the two lists and the timer are those of the original screens.
import BankModel

extension MessageCatalog {
  func noSuchAccount(_ number: Int64) -> String {
    say(
      "There is no account \(number): nobody has ever paid into it or borrowed on it.",
      "계좌 \(number): 그런 계좌는 없습니다. 입금도 대출도 한 적이 없습니다.")
  }

  func state(_ state: CustomerState) -> String {
    switch state {
    case .waiting: say("waiting", "대기중")
    case .delayed: say("delayed", "지연")
    case .dead: say("a dead letter", "보류")
    case .serving: say("being served", "업무중")
    case .done: say("done", "완료")
    }
  }

  func header(_ state: CustomerState) -> String {
    switch state {
    case .waiting: say("Waiting", "대기중")
    case .serving: say("Serving", "업무중")
    case .delayed: say("Delayed", "지연")
    case .dead: say("Dead letters", "보류")
    case .done: say("Done", "완료")
    }
  }

  func state(_ state: BankState) -> String {
    switch state {
    case .open: say("open", "영업 중")
    case .paused: say("paused", "일시 정지")
    case .draining: say("closing", "마감 중")
    case .closed: say("closed", "마감")
    }
  }

  func state(_ state: WorkerState) -> String {
    switch state {
    case .starting: say("starting", "준비 중")
    case .idle: say("idle", "쉬는 중")
    case .serving: say("serving", "업무중")
    case .backoff: say("backing off", "재시작 대기")
    case .stopped: say("stopped", "닫힘")
    }
  }

  func outcome(_ outcome: Outcome) -> String {
    switch outcome {
    case .served: say("served", "완료")
    case .cancelled: say("cancelled", "취소")
    case .outOfStock: say("out of stock", "재고 부족")
    }
  }

  /// A grade, also the one without a word of its own on a ticket.
  func grade(_ priority: Priority) -> String {
    if let grade = phrases.grade(priority) { return grade }
    return priority == .regular
      ? say("regular", "일반") : say("priority \(priority.number)", "우선순위 \(priority.number)")
  }

  /// `업무시간 - mm:ss:SSS`.
  func businessTime(milliseconds: Int64) -> String {
    say("Business time", "업무시간") + " - " + Self.timer(milliseconds: milliseconds)
  }

  /// `mm:ss:SSS`; minutes go on beyond 59.
  static func timer(milliseconds: Int64) -> String {
    let time = max(0, milliseconds)
    func padded(_ number: Int64, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    return "\(padded(time / 60_000, 2)):\(padded(time / 1000 % 60, 2)):\(padded(time % 1000, 3))"
  }

  /// A span for people: `812 ms`, `4.4 s`, `3 min 20 s`, `2 h 5 min`.
  func span(milliseconds: Int64) -> String {
    let time = max(0, milliseconds)
    switch time {
    case ..<1000: return say("\(time) ms", "\(time)밀리초")
    case ..<60_000:
      let seconds = "\(time / 1000).\(time / 100 % 10)"
      return say("\(seconds) s", "\(seconds)초")
    case ..<3_600_000:
      return say("\(time / 60_000) min \(time / 1000 % 60) s", "\(time / 60_000)분 \(time / 1000 % 60)초")
    default:
      return say(
        "\(time / 3_600_000) h \(time / 60_000 % 60) min", "\(time / 3_600_000)시간 \(time / 60_000 % 60)분")
    }
  }

  /// `1,234 won`.
  package func won(_ amount: some BinaryInteger) -> String {
    say("\(Self.grouped(amount)) won", "\(Self.grouped(amount))원")
  }

  /// `ticket 7` or `tickets 1–10`.
  func tickets(_ first: Int64, _ last: Int64) -> String {
    first == last ? say("ticket \(first)", "\(first)번") : say("tickets \(first)–\(last)", "\(first)–\(last)번")
  }

  package var lost: String { say("lost", "잃어버린 번호") }
  package var duplicated: String { say("duplicated", "겹치는 번호") }

  func trialBalance(_ difference: WonSum) -> String {
    difference == 0
      ? say("The trial balance is zero.", "시산표가 맞습니다(차액 0).")
      : say("The trial balance is off by \(won(difference)).", "시산표가 \(won(difference)) 맞지 않습니다.")
  }

  func ledgerAccount(_ name: String) -> String {
    switch name {
    case "cash": say("cash", "현금")
    case "loans": say("loans", "대출금")
    case "customers": say("all customers", "고객 계좌 전체")
    default: name
    }
  }

  package var stockDifference: String { say("stock difference", "재고 차이") }
}
