// Owns the names of everything that can go wrong in the simulated world. It must not know how any of it is done.
// Invariant: the names stand in reports and scripts.

/// Something that goes wrong.
public enum FaultKind: Int, CaseIterable, Sendable, Codable {
  /// The coordinator is killed at a call, or stands still for a while.
  case coordinatorKilled, coordinatorStalled
  /// A teller is killed between two actions, stands still for good, or is slow, some beyond its lease.
  case tellerKilled, tellerStuck, tellerSlow
  /// A teller reports that it could not serve, says what it must not say, or sends bytes that are no message.
  case tellerFailed, tellerRogue, tellerBabbled
  /// A teller dies before it is ready, is slow to start, or stands still before it is ready.
  case tellerStillborn, tellerLate
  /// A client's connection breaks; bytes are lost with any connection.
  case connectionLost, messageLost
  /// A word of a dead teller is heard after its death was reported.
  case messageLate
  /// A connection becomes slow, so that others overtake it.
  case networkSlow
  /// The disk is full for a while; a write or an fsync fails; what was staged is lost in a crash.
  case diskFull, diskFailed, commitLost
  /// Somebody sets the calendar.
  case clockJumped
  /// The machine of the coordinator loses its power, and what was not synced.
  case powerLost
  /// A client does not read for a while.
  case clientDeaf
  /// The coordinator has no descriptor left for a while; a commit takes seconds.
  case coordinatorCrowded, commitSlow
  /// Somebody closes the windows of a service and opens them again at once.
  case windowsScaled
  /// Whoever has opened the bank in the foreground is killed: it breaks everything off.
  case openerKilled
  /// A changed configuration is read again; a signal asks for the end.
  case configurationChanged, coordinatorSignalled
  /// The guardian is killed, at once or at a call; it stands still, for a while or for good.
  case guardianKilled, guardianStalled
  /// Guardian and coordinator are killed at once; an operator opens the bank again.
  case bankKilled
  /// The guarded coordinator is stopped for good.
  case coordinatorStuck
  /// A foreign worker is killed, some between two bytes of an answer; does nothing more for one of its customers; stands still;
  /// answers twice, or for somebody else; says half a message, or what nobody knows; goes away and comes back; answers then for
  /// a lease of before.
  case workerKilled, workerHung, workerStopped, workerLied, workerBabbled, workerLeft, workerLate
  /// Whoever runs commands is killed; a command is killed, or stopped; its program is taken away for a while; a customer is taken
  /// out while a command runs.
  case runnerKilled, commandKilled, commandHung, commandRemoved, commandCancelled
  /// The stock service is killed between two effects, stands still for a while, or for good; an audit takes long.
  case stockKilled, stockSlow, stockStuck, stockAuditLong
  /// The stock's disk is full, or a write or an fsync fails; a connection to the stock breaks, or becomes slow.
  case stockDiskFull, stockDiskFailed, stockCut, stockLate
  /// What the stock had staged is lost in a crash, or its commit takes seconds.
  case stockCommitLost, stockCommitSlow
  /// The stock has no descriptor left for a while; somebody who looks on does not read; the stock is asked to end.
  case stockCrowded, stockReaderDeaf, stockEnded
  /// A juice station dies when it hears that its fruit was taken.
  case stationKilled
  /// Somebody empties the queue while a station waits for its fruit, and the stock is slow.
  case stationRecalled
  /// The coordinator dies, or its disk is full, when it hears that fruit was given back.
  case releaseInterrupted
  /// As with the stock service, for the vending machine.
  case vendingKilled, vendingSlow, vendingStuck, vendingDiskFull, vendingDiskFailed, vendingCut, vendingLate
  case vendingCommitLost, vendingCommitSlow, vendingCrowded, vendingEnded
  /// The vending machine dies when it hears that a drink was taken.
  case purchaseInterrupted
  /// The stock service dies soon after it is asked for a drink, while the machine waits.
  case stockKilledInPurchase

  var isOfTheStock: Bool {
    (FaultKind.stockKilled.rawValue...FaultKind.releaseInterrupted.rawValue).contains(rawValue)
  }

  var isOfTheMachine: Bool { rawValue >= FaultKind.vendingKilled.rawValue }

  /// The name in reports: words with hyphens.
  public var name: String {
    var words = ""
    for character in String(describing: self) {
      words += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    return words
  }
}
