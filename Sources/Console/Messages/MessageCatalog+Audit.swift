// Owns the words of an audit.
// It must not know how it is made.
import BankModel

extension MessageCatalog {
  var clean: String { say("Every promise that can be checked is kept.", "확인할 수 있는 모든 약속이 지켜졌습니다.") }

  var broken: String { say("Something is not as promised.", "지켜지지 않은 약속이 있습니다.") }

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

  var moneyDifference: String { say("money difference", "금액 차이") }

  var ledgerDifference: String { say("ledger difference", "장부 차액") }
}
