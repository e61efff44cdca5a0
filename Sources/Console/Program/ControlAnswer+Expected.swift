// Owns taking an answer for what was asked for.
// Failure: CommandError; an answer of another kind is an error with its name.
import BankModel
import Wire

extension ControlAnswer {
  var status: StatusReport {
    get throws(CommandError) { if case .status(let report) = self { report } else { throw unexpected } }
  }

  var tickets: [TicketReport] {
    get throws(CommandError) { if case .tickets(let page) = self { page } else { throw unexpected } }
  }

  var ticket: TicketReport {
    get throws(CommandError) { if case .ticket(let report) = self { report } else { throw unexpected } }
  }

  package var receipts: [ReceiptReport] {
    get throws(CommandError) { if case .receipts(let page) = self { page } else { throw unexpected } }
  }

  var unexpected: CommandError {
    // Every answer is a case that carries something, so it has a name.
    let name = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return .control(.unexpected(detail: Remark(.otherAnswer, name)))
  }
}
