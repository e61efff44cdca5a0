// Terms of a bank: states, outcomes, grades, times, amounts, and the terms of the ledger and of an audit.
// Invariant: the Korean terms of the lists of waiting and serving customers, and of the timer, are those of the
// original console app.
import BankModel

extension MessageCatalog {
  /// Sentence: the account has no transfers, so it does not exist.
  func noSuchAccount(_ number: Int64) -> String {
    say(
      "There is no account \(number): it has no transfers.",
      "계좌 \(number): 그런 계좌는 없습니다. 이체 내역이 없습니다.")
  }

  func state(_ state: CustomerState) -> String { phrases.state(state) }

  func header(_ state: CustomerState) -> String { phrases.header(state) }

  func state(_ state: BankState) -> String { phrases.state(state) }

  func state(_ state: WorkerState) -> String { phrases.state(state) }

  func outcome(_ outcome: Outcome) -> String { phrases.outcome(outcome) }

  /// Name of the grade of a priority, also of the regular grade, which tickets do not show; `priority 5` without a
  /// grade.
  func grade(_ priority: Priority) -> String { phrases.standing(priority) }

  /// `업무시간 - mm:ss:SSS`.
  func businessTime(milliseconds: Int64) -> String {
    phrases.businessTime + " - " + Self.timer(milliseconds: milliseconds)
  }

  /// `mm:ss:SSS`; minutes may exceed 59.
  static func timer(milliseconds: Int64) -> String { StringCatalog.timer(milliseconds: milliseconds) }

  /// A duration for users: `812 ms`, `4.4 s`, `3 min 20 s`, `2 h 5 min`.
  package func span(milliseconds: Int64) -> String { phrases.span(milliseconds: milliseconds) }

  /// `1,234 won`.
  package func won(_ amount: some BinaryInteger) -> String { phrases.won(amount) }

  /// `ticket 7` or `tickets 1–10`.
  func tickets(_ first: Int64, _ last: Int64) -> String {
    first == last ? say("ticket \(first)", "\(first)번") : say("tickets \(first)–\(last)", "\(first)–\(last)번")
  }

  package var lost: String { say("lost", "유실된 번호") }
  package var duplicated: String { say("duplicated", "중복된 번호") }

  /// Sentence about the sum of all balances, which should be zero.
  func trialBalance(_ difference: WonSum) -> String {
    difference == 0
      ? say("The trial balance is zero.", "시산표가 맞습니다(차액 0).")
      : say("The trial balance is off by \(won(difference)).", "시산표가 \(won(difference)) 맞지 않습니다.")
  }

  func ledgerAccount(_ name: String) -> String { phrases.ledgerAccount(name) }

  package var stockDifference: String { say("stock difference", "재고 차이") }
}
