// Owns how refusals of the queue and errors of the store are told to clients: a code that scripts know, and particulars.
// It decides nothing and finds no words; those are the client's.

import BankModel
import QueueCore
import Wire

extension Failure {
  /// Why the queue has refused a request.
  init(refusal: QueueRefusal) {
    switch refusal {
    case .queueFull(let waiting, let limit):
      self.init(.queueFull, subject: String(limit), remark: Remark(.waitAtMost, waiting, limit))
    case .draining: self.init(.draining)
    case .diskFull: self.init(.diskFull)
    case .noSuchTicket(let ticket): self.init(.noSuchTicket, subject: String(ticket))
    case .wrongState(let ticket, let state): self.init(.wrongState, subject: "\(ticket) \(state.name)")
    }
  }

  /// Why the store could not be used.
  init(store error: StoreError) {
    switch error {
    case .diskFull(let detail): self.init(.diskFull, remark: detail)
    case .inUse(let path): self.init(.alreadyOpen, remark: Remark(.inUse, path))
    case .newerSchema(let path, let found, let known):
      self.init(.newerSchema, subject: path, remark: Remark(.schemaFound, found, known))
    case .damaged(let path, let detail): self.init(.damaged, subject: path, remark: detail)
    case .failed(let path, let detail): self.init(.system, subject: path, remark: detail)
    }
  }
}
