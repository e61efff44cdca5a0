// The codes of the failures that this program finds out by itself, each with its exit code. What the coordinator, the stock or
// the vending machine refuses has their codes. Invariant: one code means one condition and has one exit code; the page of the
// commands lists all of them.

/// Why a command did not do what was asked. The raw value is the `code` of the JSON error.
package enum ErrorCode: String, CaseIterable, Sendable {
  /// The command line was not understood, or asks for what is never possible.
  case usage
  /// It failed for a reason that has no code of its own.
  case failed
  /// A second Ctrl-C, or a signal, ended the command before it had its answer.
  case interrupted
  /// A line of a list cannot be used.
  case badInput = "bad_input"
  case unreadableFile = "unreadable_file"
  /// The present directory is gone.
  case noDirectory = "no_directory"

  // The conversation with the coordinator.
  case busy
  case connectionLost = "connection_lost"
  case connectionRefused = "connection_refused"
  case coordinatorEnded = "coordinator_ended"
  case malformedAnswer = "malformed_answer"
  case noAnswer = "no_answer"
  case notPermitted = "not_permitted"
  case otherVersion = "other_version"
  case programMissing = "program_missing"

  // Waits.
  case paused
  case timedOut = "timed_out"

  // What there is not.
  case noSuchAccount = "no_such_account"
  case noSuchBranch = "no_such_branch"
  case noSuchJuice = "no_such_juice"
  case noSuchSession = "no_such_session"
  case noSuchWorker = "no_such_worker"
  case outputElsewhere = "output_elsewhere"
  case outputRemoved = "output_removed"

  // The stock, the juice station and the vending machine.
  case outOfStock = "out_of_stock"
  case cancelled
  case unfinished
  case stationStandsStill = "station_stands_still"
  case stockUnavailable = "stock_unavailable"
  case vendingUnavailable = "vending_unavailable"
  case notDamaged = "not_damaged"
  case vendingRunning = "vending_running"

  // Programs beside the bank.
  case webClosed = "web_closed"
  case webFailed = "web_failed"
  case webMissing = "web_missing"
  case postgresMissing = "postgres_missing"

  package var exit: ProgramExit {
    switch self {
    case .usage, .badInput: .usage
    case .failed, .interrupted, .noDirectory, .connectionLost, .connectionRefused, .coordinatorEnded,
      .malformedAnswer, .noAnswer, .notPermitted, .otherVersion, .programMissing, .unfinished, .webFailed,
      .webMissing, .postgresMissing:
      .failed
    case .unreadableFile, .noSuchAccount, .noSuchBranch, .noSuchJuice, .noSuchSession, .noSuchWorker,
      .outputElsewhere, .outputRemoved:
      .notFound
    case .paused, .outOfStock, .notDamaged, .vendingRunning, .webClosed: .refused
    case .busy, .timedOut, .cancelled, .stationStandsStill, .stockUnavailable, .vendingUnavailable: .later
    }
  }
}
