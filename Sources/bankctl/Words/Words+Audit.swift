// Owns the words of an audit.
// It must not know how it is made.
// Invariant and failure: see Words.

extension Words {
  /// Everything is as promised.
  var clean: String {
    say("Every promise that can be checked is kept.", "확인할 수 있는 모든 약속이 지켜졌습니다.")
  }

  /// Something is not.
  var broken: String { say("Something is not as promised.", "지켜지지 않은 약속이 있습니다.") }

  /// Tickets that stand nowhere.
  var lost: String { say("lost", "잃어버린 번호") }

  /// Tickets that stand in more than one place.
  var duplicated: String { say("duplicated", "겹치는 번호") }

  /// Debits less credits.
  var ledgerDifference: String { say("ledger difference", "장부 차액") }
}
