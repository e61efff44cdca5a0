// What a teller derives from its settings for an assignment: how long it waits for the answer of its provider, and
// whether the assignment is for this teller.

import BankModel
import Time
import Wire

extension TellerSettings {
  /// Deadline for the answer to what a customer needs. The lease lasts four beats; half of it is left for the
  /// first progress of the work.
  func provisionTimeout(from now: MonotonicTime) -> MonotonicTime {
    now + .microseconds(beatMicroseconds) + .microseconds(beatMicroseconds)
  }

  /// Reason to refuse an assignment; nil if it is for this teller.
  func objection(to assignment: Assignment) -> String? {
    if assignment.service != service {
      return "\(name) serves service \(service.number), not \(assignment.service.number)"
    }
    if assignment.generation != generation {
      return "this is generation \(generation) of \(name), not \(assignment.generation)"
    }
    return nil
  }
}
