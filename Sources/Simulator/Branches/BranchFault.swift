// Owns the names of what goes wrong between several branches and their books. It must not know how any of it is done.
// Invariant: the names stand in reports and scripts.

/// What goes wrong between several branches and their books.
public enum BranchFault: Int, CaseIterable, Sendable, Codable {
  /// A coordinator is killed, at once or at any call, or stands still for a while.
  case coordinatorKilled, coordinatorStalled
  /// A branch is killed with everybody in it, and comes back later, or only when all is well again.
  case branchKilled
  /// Everything in a branch stands still, for up to a minute.
  case branchAsleep
  /// A teller is killed, stands still, is slow, or cannot serve.
  case tellerKilled, tellerStuck, tellerSlow, tellerFailed
  /// A connection to the books breaks, with what is on its way or without.
  case connectionLost
  /// A connection breaks while a transaction is on its way: before it comes to the books, late, or behind it. A branch dies, and
  /// what is on its way comes to the books when its epoch has just ended.
  case transactionLate, replyLost, diesAtWork
  /// A branch is cut off from the books; its connections become slow.
  case branchPartitioned, networkSlow
  /// The books are away for a while, have no room, or refuse what is in the way of something else.
  case booksAway, booksFull, booksInTheWay
  /// The address leads to an empty database for a while; a standby takes over, and the former server comes back beside it.
  case booksReplaced, serverPromoted
  /// Nobody hears that somebody has come.
  case notificationLost
  /// Somebody sets the calendar of a branch, by hours.
  case clockJumped
  /// A client loses its connection, or does not read for a while.
  case clientLost, clientDeaf
  /// Windows are closed and opened again; a branch is closed by its operator.
  case windowsScaled, branchClosed

  /// The name in reports: words with hyphens.
  public var name: String {
    var words = ""
    for character in String(describing: self) {
      words += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    return words
  }
}
