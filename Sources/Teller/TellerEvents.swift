// Values exchanged between the teller's machine and its shell: events, actions and log entries.
// An event is something that has happened. An action is an instruction for the shell.

import BankModel
import Time
import Wire

/// Event for the teller's state machine.
public enum TellerEvent: Sendable, Equatable {
  /// The process has started, and the channel to the coordinator is open.
  case began
  case received(MessageToTeller)
  /// The time ``TellerMachine/wakeAt`` was reached. An event before that time changes nothing.
  case timerFired
  /// The provider reported this result. If the lease has ended, the result is late and is ignored.
  case provided(Lease, ProvisionResult)
  /// A signal requested the end of the process.
  case stopRequested
  /// The coordinator closed the connection, or its process ended.
  case coordinatorGone
  /// The coordinator sent an invalid message.
  case coordinatorProtocolError(String)
  /// A system call on the connection failed, or too much output waited for the coordinator.
  case connectionFailed(String)
}

/// Result of a provider: availability of what a customer needs, or the outcome of the whole work.
public enum ProvisionResult: Sendable, Equatable {
  /// Available and reserved for this customer: the work can start.
  case ready
  /// Too few pieces are available, and nothing was taken.
  case missing([Shortage])
  /// Unavailable for now, for a reason that the customer did not cause, such as a full disk.
  case later(String)
  /// The request failed, for this reason.
  case unknown(String)
  /// The whole work is done, with this result.
  case worked(WorkResult)
  /// The whole work could not be done.
  case failed(WorkFailure)
  /// The whole work was given up, and no process of it is left.
  case returned
}

/// An action that the shell performs. Actions are performed in their order.
public enum TellerAction: Sendable, Equatable {
  /// Obtain what this customer needs, and report the result as ``TellerEvent/provided(_:_:)``. For the same ticket
  /// after a crash, the provider must find what was reserved before.
  case provide(Assignment)
  /// Give up the work of the customer with this lease, and report ``TellerEvent/provided(_:_:)`` once no process of the
  /// work is left.
  case abandon(Lease)
  case send(TellerMessage)
  /// Pass these settings to the provider, and open the log that they name.
  case openLog(TellerSettings)
  case log(TellerLogEntry)
  /// Write to standard error, for the user who started this process.
  case reportError(String)
  /// End the process with this code, after the earlier messages are sent.
  case exit(Int32)
}

/// An event worth a line in the log.
public enum TellerLogEntry: Sendable, Equatable {
  /// The teller waits at its window for the first customer.
  case ready
  /// The service of a customer has started.
  case started(Assignment)
  /// The work for a customer is done; `took` is its duration.
  case completed(Assignment, took: TimeSpan)
  /// A provider has done the whole work for a customer, with this result; `took` is its duration.
  case worked(Assignment, WorkResult, took: TimeSpan)
  /// A customer was sent away because of these shortages.
  case outOfStock(Assignment, [Shortage])
  /// The work for a customer cannot start yet, for this reason.
  case delayed(Assignment, reason: String)
  /// A customer was returned to the coordinator.
  case recalled(Assignment)
  /// The work for a customer cannot start, for this reason.
  case failed(Assignment, reason: String)
  /// The whole work for a customer was not done; `took` is the time spent on it.
  case workFailed(Assignment, WorkFailure, took: TimeSpan)
  /// The coordinator sent an unexpected message, or bytes that are not a message.
  case violation(String)
  case exit(code: Int32, reason: String)
}

/// Exit codes of a teller; those of `sysexits.h` if one fits.
public enum TellerExit {
  /// Success: the window is closed, a signal requested the exit, or the coordinator is gone.
  public static let done: Int32 = 0
  /// Descriptor 3 is missing or not a socket, so the coordinator has not started this process.
  public static let usage: Int32 = 2
  /// The coordinator has refused this process, or has sent a message that breaks the protocol (EX_DATAERR).
  public static let protocolError: Int32 = 65
  /// The system refused something that a teller needs (EX_OSERR).
  public static let system: Int32 = 71
}
