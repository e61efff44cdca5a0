// Owns the names of everything that can go wrong in the simulated world. It must not know how any of it is done.
// Invariant: the names stand in reports and scripts. There is nothing that can fail.

/// Something that goes wrong.
public enum FaultKind: Int, CaseIterable, Sendable, Codable {
  /// The coordinator is killed at a call.
  case coordinatorKilled
  /// The coordinator stands still for a while.
  case coordinatorStalled
  /// A teller is killed between two actions.
  case tellerKilled
  /// A teller stands still for good.
  case tellerStuck
  /// A teller is slow, some beyond its lease.
  case tellerSlow
  /// A teller reports that it could not serve.
  case tellerFailed
  /// A teller says what it must not say.
  case tellerRogue
  /// A teller sends bytes that are no message.
  case tellerBabbled
  /// A teller dies before it is ready.
  case tellerStillborn
  /// A teller is slow to start, or stands still before it is ready.
  case tellerLate
  /// A client's connection breaks.
  case connectionLost
  /// Bytes are lost with their connection.
  case messageLost
  /// A word of a dead teller is heard after its death was reported.
  case messageLate
  /// A connection becomes slow, so that others overtake it.
  case networkSlow
  /// The disk is full for a while.
  case diskFull
  /// A write or an fsync fails.
  case diskFailed
  /// What was staged and not committed is lost in a crash.
  case commitLost
  /// Somebody sets the calendar.
  case clockJumped
  /// The machine of the coordinator loses its power, and what was not synced.
  case powerLost
  /// A client does not read for a while.
  case clientDeaf
  /// The coordinator has no descriptor left for a while.
  case coordinatorCrowded
  /// A commit takes seconds.
  case commitSlow
  /// Somebody closes the windows of a service and opens them again at once.
  case windowsScaled
  /// Whoever has opened the bank in the foreground is killed: it breaks everything off.
  case openerKilled
  /// Somebody changes the configuration and has it read again.
  case configurationChanged
  /// The coordinator gets a signal that asks for the end.
  case coordinatorSignalled
  /// The guardian is killed, at once or at a call.
  case guardianKilled
  /// The guardian stands still, for a while or for good.
  case guardianStalled
  /// Guardian and coordinator are killed at once; an operator opens the bank again.
  case bankKilled
  /// The guarded coordinator is stopped for good.
  case coordinatorStuck
  /// The stock service is killed between two effects.
  case stockKilled
  /// The stock service stands still for a while.
  case stockSlow
  /// The stock service stands still for good.
  case stockStuck
  /// An audit of the stock takes long.
  case stockAuditLong
  /// The stock's disk is full for a while.
  case stockDiskFull
  /// A write or an fsync of the stock fails.
  case stockDiskFailed
  /// A connection to the stock breaks.
  case stockCut
  /// A connection to the stock becomes slow.
  case stockLate
  /// What the stock had staged and not committed is lost in a crash.
  case stockCommitLost
  /// A commit of the stock takes seconds.
  case stockCommitSlow
  /// The stock service has no descriptor left for a while.
  case stockCrowded
  /// Somebody who looks on at the stock does not read for a while.
  case stockReaderDeaf
  /// The stock service is asked to end.
  case stockEnded
  /// A juice station dies when it hears that its fruit was taken.
  case stationKilled
  /// Somebody empties the queue while a station waits for its fruit, and the stock is slow.
  case stationRecalled
  /// The coordinator dies, or its disk is full, when it hears that fruit was given back.
  case releaseInterrupted
  /// The vending machine is killed between two effects.
  case vendingKilled
  /// The vending machine stands still for a while.
  case vendingSlow
  /// The vending machine stands still for good.
  case vendingStuck
  /// The vending machine's disk is full for a while.
  case vendingDiskFull
  /// A write or an fsync of the vending machine fails.
  case vendingDiskFailed
  /// The connection of somebody at the vending machine breaks.
  case vendingCut
  /// The connection of somebody at the vending machine becomes slow.
  case vendingLate
  /// What the vending machine had staged and not committed is lost in a crash.
  case vendingCommitLost
  /// A commit of the vending machine takes seconds.
  case vendingCommitSlow
  /// The vending machine has no descriptor left for a while.
  case vendingCrowded
  /// The vending machine is asked to end.
  case vendingEnded
  /// The vending machine dies when it hears that a drink was taken.
  case purchaseInterrupted
  /// The stock service dies soon after it is asked for a drink, while the machine waits.
  case stockKilledInPurchase

  /// Whether it is the stock's side of the world where something goes wrong.
  var isOfTheStock: Bool {
    (FaultKind.stockKilled.rawValue...FaultKind.releaseInterrupted.rawValue).contains(rawValue)
  }

  /// Whether it is the vending machine's side of the world where something goes wrong.
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
