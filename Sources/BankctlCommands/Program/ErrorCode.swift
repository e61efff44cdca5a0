// Codes of the errors that this program detects itself, each with its exit code. A refusal of the coordinator, the
// stock or the vending machine has the code that its sender defines.

/// Reason why a command failed. The raw value is the `code` of the JSON error.
package enum ErrorCode: String, CaseIterable, Sendable {
  /// Syntax error, or a request that can never succeed.
  case usage
  /// Failure without a code of its own.
  case failed
  /// A Ctrl-C or another signal ended the command before the answer was received.
  case interrupted
  /// Invalid line of an input list.
  case badInput = "bad_input"
  case unreadableFile = "unreadable_file"
  /// The current directory was removed.
  case noWorkingDirectory = "no_working_directory"

  // Connection to the coordinator.
  case connectionLost = "connection_lost"
  case connectionRejected = "connection_rejected"
  case coordinatorExited = "coordinator_exited"
  case noResponse = "no_response"
  case notPermitted = "not_permitted"
  case programMissing = "program_missing"
  case protocolMismatch = "protocol_mismatch"
  /// The coordinator did not send its welcome in time. No request was sent.
  case serverBusy = "server_busy"
  case tooManyConnections = "too_many_connections"
  case unexpectedResponse = "unexpected_response"

  // Waits.
  case paused
  case timedOut = "timed_out"

  // Missing objects.
  case noSuchAccount = "no_such_account"
  case noSuchBranch = "no_such_branch"
  case noSuchJuice = "no_such_juice"
  case noSuchLog = "no_such_log"
  case noSuchSession = "no_such_session"
  case outputAtOtherBranch = "output_at_other_branch"
  case outputRemoved = "output_removed"

  // Stock, juice station and vending machine.
  case outOfStock = "out_of_stock"
  case orderCancelled = "order_cancelled"
  /// A juice is ordered and being made, but it was not ready in time.
  case orderPending = "order_pending"
  case juiceStationUnavailable = "juice_station_unavailable"
  case stockUnavailable = "stock_unavailable"
  case vendingUnavailable = "vending_unavailable"
  case databaseNotDamaged = "database_not_damaged"
  case databaseInUse = "database_in_use"

  // Web server and PostgreSQL.
  case webFailed = "web_failed"
  case webMissing = "web_missing"
  case webNotRunning = "web_not_running"
  case postgresMissing = "postgres_missing"

  /// Exit code of a command that fails with this error.
  package var exit: ProgramExit {
    switch self {
    case .usage, .badInput: .usage
    case .failed, .interrupted, .noWorkingDirectory, .connectionLost, .connectionRejected, .coordinatorExited,
      .noResponse, .notPermitted, .programMissing, .protocolMismatch, .unexpectedResponse, .orderPending,
      .webFailed, .webMissing, .postgresMissing:
      .failed
    case .unreadableFile, .noSuchAccount, .noSuchBranch, .noSuchJuice, .noSuchLog, .noSuchSession,
      .outputAtOtherBranch, .outputRemoved:
      .notFound
    case .paused, .outOfStock, .databaseNotDamaged, .databaseInUse, .webNotRunning: .refused
    case .serverBusy, .tooManyConnections, .timedOut, .orderCancelled, .juiceStationUnavailable,
      .stockUnavailable, .vendingUnavailable:
      .later
    }
  }
}
