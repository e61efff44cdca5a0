// Error codes that this program detects itself, each with its exit code. Refusals of the coordinator, the
// stock and the vending machine have the codes of those.
// Invariant: one code means one condition and has one exit code. The command reference lists all of them.

/// Reason why a command failed. The raw value is the `code` of the JSON error.
package enum ErrorCode: String, CaseIterable, Sendable {
  /// Syntax error, or a request that can never succeed.
  case usage
  /// Failure without a code of its own.
  case failed
  /// A second Ctrl-C, or a signal, ended the command before its answer.
  case interrupted
  /// Invalid line of an input list.
  case badInput = "bad_input"
  case unreadableFile = "unreadable_file"
  /// The current directory was removed.
  case noDirectory = "no_directory"

  // Connection to the coordinator.
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

  // Missing objects.
  case noSuchAccount = "no_such_account"
  case noSuchBranch = "no_such_branch"
  case noSuchJuice = "no_such_juice"
  case noSuchSession = "no_such_session"
  case noSuchWorker = "no_such_worker"
  case outputElsewhere = "output_elsewhere"
  case outputRemoved = "output_removed"

  // Stock, juice station and vending machine.
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
