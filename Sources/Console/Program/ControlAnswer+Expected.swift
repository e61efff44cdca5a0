// Owns taking an answer for what was asked for.
// Failure: CommandError; an answer of another kind is an error with its name.
import BankModel
import ControlClient
import Wire

extension ControlAnswer {
  var status: StatusReport {
    get throws(CommandError) { if case .status(let report) = self { report } else { throw unexpected } }
  }

  /// A page of customers.
  var tickets: [TicketReport] {
    get throws(CommandError) { if case .tickets(let page) = self { page } else { throw unexpected } }
  }

  /// One customer's story.
  var ticket: TicketReport {
    get throws(CommandError) { if case .ticket(let report) = self { report } else { throw unexpected } }
  }

  /// A page of receipts.
  package var receipts: [ReceiptReport] {
    get throws(CommandError) { if case .receipts(let page) = self { page } else { throw unexpected } }
  }

  var unexpected: CommandError {
    let name =
      switch self {
      case .failure: "failure"
      case .status: "status"
      case .enqueued: "enqueued"
      case .tickets: "tickets"
      case .ticket: "ticket"
      case .receipts: "receipts"
      case .event: "event"
      case .ended: "ended"
      case .requeued: "requeued"
      case .progress: "progress"
      case .stopped: "stopped"
      case .audit: "audit"
      case .ledger: "ledger"
      case .account: "account"
      }
    return .control(.unexpected(detail: Remark(.otherAnswer, name)))
  }
}
