// Owns everything that the queue can want. It knows nothing of who does it.
// Effects are imperatives, performed in order. What is staged is visible to every read after it.

import BankModel

/// Something to be done for the queue.
public enum QueueEffect: Sendable, Equatable {
  /// Add a change to the open transaction.
  case stage(StoreChange)
  /// Read the next page of a line.
  case loadPage(Line, after: TicketNumber, limit: Int)
  /// Read the next page of those who are delayed.
  case loadDelayed(after: DuePlace, limit: Int)
  /// Find a ticket in the store.
  case lookUp(RequestNumber, TicketNumber)
  /// Read dead letters from the store, at most so many.
  case loadDead(RequestNumber, limit: Int)

  /// Have shared books do what a request wants with customers whom this branch has not in hand, and answer it.
  case forward(RequestNumber, OperatorOrder)

  /// Hand a customer to a teller. Waits for no disk.
  case assign(Window, Lease, Customer)
  /// Tell a teller that its receipts up to this lease are on disk.
  case acknowledge(Window, Lease)
  /// Ask a teller for its customer back.
  case recall(Window, Lease)
  /// Tell a teller at work that nobody comes after those in its hands, so that it gives back whom it cannot begin to serve.
  case announceClosing(Window)
  /// Open a window: start a teller, and another one whenever it is lost.
  case openWindow(Window)
  /// Let the teller at this window go as soon as its hands are free; start no other.
  case closeWindow(Window)
  /// The teller's hands are free and its window is to be closed.
  case dismissTeller(Window)
  /// End a teller that has made no progress.
  case endStuckTeller(Window, Generation)
  /// End a teller that broke the rules of the conversation.
  case endRogueTeller(Window, Generation, reason: String)

  /// A customer was served at a window, or lost it, for those who watch.
  case announce(Happening, Window, Lease, Customer)
  /// A customer was put aside, for the log.
  case reportDead(Customer, Window, AttemptEnd, ProcessEnd?)
  /// What was done with a customer has had no effect: it was finished by somebody else before. It is several times as large as
  /// any other effect, and seldom: by reference.
  indirect case reportWithoutEffect(Customer, Receipt)
  /// A service was paused, because nobody can be served like this.
  case reportPause(Service, because: WorkFailure)
  /// Answer a request.
  case reply(RequestNumber, QueueAnswer)
  /// The drain has ended: nobody can be served any more, and no window is busy.
  case reportDrained
}

/// What an operator wants done with customers whom only the books know.
public enum OperatorOrder: Sendable, Equatable {
  /// Take this one out.
  case cancel(TicketNumber)
  /// Bring this dead letter back to its line.
  case requeue(TicketNumber)
  /// Bring all dead letters back.
  case requeueDead
}

/// What those who watch are told.
public enum Happening: Sendable, Equatable {
  case started
  case completed
  case interrupted
}

/// The answer to a request.
public enum QueueAnswer: Sendable, Equatable {
  /// These tickets are on disk.
  case enqueued(IssuedTickets)
  /// Done, and on disk.
  case done
  /// So many were brought back to their lines, and it is on disk.
  case requeued(Int64)
  /// Nothing was changed.
  case refused(QueueRefusal)
}

/// Why a request was refused. Nothing was changed.
public enum QueueRefusal: Sendable, Equatable {
  /// As many wait as may wait.
  case queueFull(waiting: Int64, limit: Int64)
  /// As many wait for this service as may wait for it.
  case serviceFull(Service, waiting: Int64, limit: Int64)
  /// Customers of as many priorities wait as may wait.
  case tooManyLines(limit: Int)
  /// The bank is closing.
  case draining
  /// The disk is full.
  case diskFull
  /// There is no such ticket among those not finished. It may have a receipt.
  case noSuchTicket(TicketNumber)
  /// The branch has lost its lease before it was on disk; what became of it is known to the books alone.
  case leaseLost
  /// Several branches share the books, and this is not done with them.
  case sharedBooks
  /// The customer stands where this cannot be done.
  case wrongState(TicketNumber, CustomerState)
}
