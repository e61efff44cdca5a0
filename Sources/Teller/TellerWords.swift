// Owns the words between the teller's machine and its shell: what can happen, what is to be done, what is logged. Events are
// past tense, actions imperatives.

import BankModel
import Time
import Wire

/// Something that happened to the teller.
public enum TellerEvent: Sendable, Equatable {
  case began
  case heard(WindowMessage)
  /// The moment of ``TellerMachine/wakeAt`` came. One too early changes nothing.
  case timeCame
  /// What a customer needs was looked for, with this result. One that comes after the lease has ended is late.
  case provided(Lease, Provision)
  case askedToEnd
  /// The coordinator closed the connection, or died.
  case coordinatorGone
  /// The coordinator said what is no message.
  case coordinatorUnintelligible(String)
  case connectionFailed(String)
}

/// Whether there is what a customer needs, or what has come of the whole work.
public enum Provision: Sendable, Equatable {
  /// It is there, and put by for this customer: the work can begin.
  case ready
  /// There is too little, and nothing was taken.
  case missing([Shortage])
  /// It cannot be had for now, for a reason that is not the customer's: there is no room to note it, or nobody answers.
  /// It is to be asked for again.
  case later(String)
  /// It could not be found out, for this reason.
  case unknown(String)
  /// The whole work is done, and has left this behind.
  case worked(WorkResult)
  /// The whole work could not be done.
  case failed(WorkFailure)
  /// The whole work was given up, and nothing of it is left.
  case returned
}

/// Something the shell has to do, in order.
public enum TellerAction: Sendable, Equatable {
  /// Get what this customer needs, and report it as ``TellerEvent/provided(_:_:)``. Asked for the same ticket again
  /// after a crash, it must find what was put by before.
  case provide(Assignment)
  /// Give up the work of the customer of this lease, and report it as ``TellerEvent/provided(_:_:)`` once nothing of it is
  /// left.
  case abandon(Lease)
  /// Send this to the coordinator.
  case say(TellerMessage)
  case openLog(TellerOrders)
  case log(TellerNote)
  /// Tell whoever started this process, on standard error.
  case complain(String)
  /// End the process with this code, after everything said before has left.
  case exit(Int32)
}

/// Something worth a line in the log.
public enum TellerNote: Sendable, Equatable {
  /// At the window, waiting for the first customer.
  case ready
  case started(Assignment)
  /// The work for a customer is done, and took so long.
  case completed(Assignment, took: TimeSpan)
  /// The whole work for a customer is done, took so long, and has left this behind.
  case worked(Assignment, WorkResult, took: TimeSpan)
  /// A customer was sent away because of these shortages.
  case sentAway(Assignment, [Shortage])
  /// The work for a customer cannot begin, for this reason, and is waited with.
  case delayed(Assignment, reason: String)
  case recalled(Assignment)
  /// A customer cannot be served here.
  case failed(Assignment, reason: String)
  /// The whole work for a customer was not done, after so long.
  case workFailed(Assignment, WorkFailure, took: TimeSpan)
  /// The coordinator said something that it must not say now, or that is no message.
  case violation(String)
  case exit(code: Int32, reason: String)
}

/// The codes with which a teller ends; those of `sysexits.h` where they fit.
public enum TellerExit {
  /// All is well: the window is closed, or the coordinator is gone.
  public static let done: Int32 = 0
  /// Started by somebody who is not the coordinator.
  public static let usage: Int32 = 2
  /// The two do not understand each other (EX_DATAERR).
  public static let misunderstood: Int32 = 65
  /// The system refused something that a teller cannot do without (EX_OSERR).
  public static let system: Int32 = 71
}
