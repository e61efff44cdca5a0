// Output of the queue: commands that the caller performs in order.
// A staged change is visible to later reads.

import BankModel

/// One command that the caller performs for the queue.
public enum QueueEffect: Sendable, Equatable {
  /// Add a change to the open transaction.
  case stage(StoreChange)
  /// A slice of this request was accepted.
  case acceptSlice(RequestNumber)
  /// Read the next page of a line. In a shared bank: claim it.
  case loadPage(Line, after: TicketNumber, limit: Int)
  /// Read the next page of delayed customers.
  case loadDelayed(after: DuePosition, limit: Int)
  /// Find a ticket in the store.
  case lookUp(RequestNumber, TicketNumber)
  /// Read dead letters from the store, at most `limit`.
  case loadDead(RequestNumber, limit: Int)

  /// Forward a request about customers that this branch does not own to the shared store, and reply with its result.
  case forward(RequestNumber, OperatorCommand)

  /// Send a customer to a teller. If the service counts attempts, the start is on disk.
  case assign(Window, Lease, Customer)
  /// Inform a teller that its receipts up to this lease are on disk.
  case acknowledge(Window, Lease)
  /// Ask a teller to return a customer.
  case recall(Window, Lease)
  /// Notify a busy teller that it gets no further customers, so that it returns those that it cannot start.
  case notifyNoMoreCustomers(Window)
  /// Open a window: start a teller, and restart it when it exits.
  case openWindow(Window)
  /// Close a window: do not restart its teller.
  case closeWindow(Window)
  /// Order an idle teller to exit.
  case dismissTeller(Window)
  /// Kill a teller whose lease has run out, or that has not returned recalled customers in time.
  case killStuckTeller(Window, Generation)
  /// Kill a teller, or disconnect an outside worker, that violated the protocol.
  case killRogueTeller(Window, Generation, reason: String)

  /// Notify subscribers that a customer was started, completed or interrupted.
  case announce(CustomerEvent, Window, Lease, Customer)
  /// Log that a customer became a dead letter.
  case logDeadLetter(Customer, Window, AttemptEnd, ProcessEnd?)
  /// Log that the receipt of a customer was dropped, because the customer was already finished in the shared database.
  /// The case is indirect, because its values are large and rare.
  indirect case logRejectedCompletion(Customer, Receipt)
  /// Log that a service was paused, because a worker reported that no customer can be served.
  case logPause(Service, because: WorkFailure)
  /// Reply to a request.
  case reply(RequestNumber, QueueAnswer)
  /// Report the end of the drain.
  case reportDrained
}

/// An operator's command about customers that this branch does not own.
public enum OperatorCommand: Sendable, Equatable {
  /// Cancel this customer.
  case cancel(TicketNumber)
  /// Return this dead letter to its line.
  case requeue(TicketNumber)
  /// Return all dead letters to their lines.
  case requeueDead
}

/// Event that the caller announces to subscribers.
public enum CustomerEvent: Sendable, Equatable {
  /// An attempt has started.
  case started
  /// A worker has finished the customer.
  case completed
  /// An attempt has ended without a receipt from its worker.
  case interrupted
}

/// Reply to a request.
public enum QueueAnswer: Sendable, Equatable {
  /// These tickets are on disk.
  case enqueued(IssuedTickets)
  /// The request is done, and its change is on disk. Exception: a branch that loses its lease answers requests to pause
  /// and resume at once.
  case done
  /// This number of dead letters was returned to the lines, and the change is on disk.
  case requeued(Int64)
  /// The request was refused. Nothing was changed, except possibly after ``QueueRefusal/leaseLost``.
  case refused(QueueRefusal)
}

/// Reason for a refusal. Nothing was changed, except possibly after ``leaseLost``.
public enum QueueRefusal: Sendable, Equatable {
  /// The bank would have more unfinished customers than allowed.
  case queueFull(waiting: Int64, limit: Int64)
  /// The service would have more unfinished customers than allowed.
  case serviceFull(Service, waiting: Int64, limit: Int64)
  /// The bank would have more lines of waiting customers than allowed.
  case tooManyLines(limit: Int)
  /// The bank is closing.
  case draining
  /// The disk is full, or its remaining space is reserved for the stored customers.
  case diskFull
  /// No customer of the current day has this ticket.
  case noSuchTicket(TicketNumber)
  /// The branch lost its lease before the change was reported as on disk. The change may have taken effect.
  case leaseLost
  /// A shared store does not support the request.
  case unsupportedWithSharedStore
  /// The state of the customer does not allow the request.
  case wrongState(TicketNumber, CustomerState)
}
