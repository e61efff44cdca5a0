// Conversion of the queue's refusals and the store's errors to failures for clients:
// a code for scripts, and details.

import BankModel
import Configuration
import QueueCore
import Wire

extension Failure {
  /// Failure for a refusal of the queue.
  init(refusal: QueueRefusal, _ services: ServiceDirectory) {
    switch refusal {
    case .queueFull(let waiting, let limit):
      self.init(.queueFull, subject: String(limit), messageDetail: MessageDetail(.waitAtMost, waiting, limit))
    case .serviceFull(let service, let waiting, let limit):
      let messageDetail = MessageDetail(.waitForAtMost, waiting, services[service].text, limit)
      self.init(.queueFull, subject: String(limit), messageDetail: messageDetail)
    case .tooManyLines(let limit):
      self.init(
        .queueFull, subject: String(limit), messageDetail: MessageDetail(.prioritiesAtMost, Int64(limit)))
    case .draining: self.init(.draining)
    case .diskFull: self.init(.diskFull)
    case .leaseLost: self.init(.leaseLost)
    case .unsupportedWithSharedStore: self.init(.unsupportedWithSharedStore)
    case .noSuchTicket(let ticket): self.init(.noSuchTicket, subject: String(ticket))
    case .wrongState(let ticket, let state): self.init(.wrongState, subject: "\(ticket) \(state.name)")
    }
  }

  /// Failure for an invalid file, in this language.
  init(_ error: ConfigurationError, in language: Language) {
    self.init(.badConfiguration, subject: error.path, detail: error.message(in: language))
  }

  init(store error: StoreError) {
    switch error {
    case .diskFull(let detail): self.init(.diskFull, messageDetail: detail)
    // A coordinator has the lock of its home, so only a program that is not the bank's can use the database.
    case .inUse(let path): self.init(.inspected, subject: path, messageDetail: MessageDetail(.inUse, path))
    case .newerSchema(let path, let found, let known):
      self.init(.newerSchema, subject: path, messageDetail: MessageDetail(.schemaFound, found, known))
    case .damaged(let path, let detail): self.init(.damaged, subject: path, messageDetail: detail)
    case .failed(let path, let detail): self.init(.system, subject: path, messageDetail: detail)
    }
  }
}
