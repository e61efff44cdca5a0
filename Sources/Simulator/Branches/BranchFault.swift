// Names of the faults in histories of several branches; for a bank
// with a database of its own see `FaultKind`.

/// A kind of fault in a history of several branches.
public enum BranchFault: Int, CaseIterable, Sendable, Codable {
  /// A coordinator is killed, or stalls for a while.
  case coordinatorKilled, coordinatorStalled
  /// A branch is killed with its processes.
  case branchKilled
  /// The processes of a branch stall.
  case branchStalled
  /// A teller is killed, hangs, is slow, or cannot serve.
  case tellerKilled, tellerStuck, tellerSlow, tellerFailed
  /// A connection to the database breaks; requests in flight are lost or still arrive.
  case connectionLost
  /// A connection breaks while a transaction is in flight: the transaction arrives late, or its answer is lost. Or a
  /// branch is killed, and its transaction arrives after its epoch has ended.
  case transactionLate, replyLost, killedInTransaction
  /// A branch is cut off from the database; its connections become slow.
  case branchPartitioned, networkSlow
  /// The database is unavailable for a while, has no space, or refuses transactions because of conflicts.
  case databaseUnavailable, databaseFull, databaseConflict
  /// The database's address leads to an empty database for a while. Or a standby is promoted, and the former server
  /// also accepts connections for a while.
  case databaseReplaced, serverPromoted
  /// Notifications of new customers are lost.
  case notificationLost
  /// The calendar of a branch is set forward or back.
  case clockJumped
  /// A client loses its connection, or does not read for a while.
  case clientLost, clientStoppedReading
  /// Windows are closed and opened again; a branch is closed by its operator.
  case windowsScaled, branchClosed

  /// The name in reports: lower-case words with hyphens.
  public var name: String {
    var words = ""
    for character in String(describing: self) {
      words += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    return words
  }
}
