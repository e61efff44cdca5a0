// Names of the faults of a bank with a database of its own;
// for shared banks see `BranchFault`.

/// A kind of fault that a history injects, such as a killed coordinator or a full disk.
public enum FaultKind: Int, CaseIterable, Sendable, Codable {
  /// The coordinator is killed, or stalls for a while.
  case coordinatorKilled, coordinatorStalled
  /// A teller, juice station or runner is killed, hangs or is stopped, or is slow.
  case tellerKilled, tellerStuck, tellerSlow
  /// A teller or juice station reports that it could not serve. A worker at a window sends a message that it must not
  /// send, or bytes that are not a message.
  case tellerFailed, tellerMisbehaved, tellerSentGarbage
  /// A teller, juice station or runner is killed before it is ready, starts slowly, or hangs before it is ready.
  case tellerKilledBeforeReady, tellerLate
  /// A client's connection breaks. With a broken connection, bytes in flight may be lost.
  case connectionLost, messageLost
  /// A message of a worker is handled after the death of the worker was reported.
  case messageLate
  /// A connection becomes slow, so that messages on other connections overtake its messages.
  case networkSlow
  /// The disk is full for a while; a write or an fsync fails; staged changes are lost in a crash.
  case diskFull, diskFailed, commitLost
  /// The calendar is set forward or back.
  case clockJumped
  /// The coordinator's machine loses power, and with it unsynced data.
  case powerLost
  /// A client does not read for a while.
  case clientStoppedReading
  /// The coordinator has no free descriptor for a while; a commit takes long.
  case coordinatorOutOfDescriptors, commitSlow
  /// A client closes the windows of a service and opens them again.
  case windowsScaled
  /// The process that opened the bank in the foreground is killed.
  case foregroundProcessKilled
  /// The configuration is reloaded; a signal requests the stop.
  case configurationChanged, coordinatorSignalled
  /// The guardian is killed, or stalls.
  case guardianKilled, guardianStalled
  /// Guardian and coordinator are killed at the same time; an operator opens the bank again.
  case bankKilled
  /// The guarded coordinator is stopped permanently.
  case coordinatorStuck
  /// An external worker is killed; stops working for one of its customers; is stopped; answers twice, or for a customer
  /// of another worker; sends half a message, or an unknown one; disconnects and connects again; answers for an earlier
  /// lease after it has connected again.
  case workerKilled, workerHung, workerStopped, workerSentFalseAnswer, workerSentGarbage, workerLeft,
    workerLate
  /// A runner is killed; a command is killed, or stopped; its program file is removed for a while; a customer
  /// that a runner holds is cancelled.
  case runnerKilled, commandKilled, commandHung, commandRemoved, commandCancelled
  /// The stock service is killed at a system call, or stalls, for a while or permanently. An audit takes a long time.
  case stockKilled, stockSlow, stockStuck, stockAuditLong
  /// The stock's disk is full, or a write or an fsync fails; a connection to the stock breaks, or becomes
  /// slow.
  case stockDiskFull, stockDiskFailed, stockConnectionLost, stockLate
  /// The stock's staged changes are lost in a crash, or its commit takes long.
  case stockCommitLost, stockCommitSlow
  /// The stock has no free descriptor for a while; a subscriber does not read; the stock is asked to exit.
  case stockOutOfDescriptors, stockSubscriberStoppedReading, stockAskedToExit
  /// A juice station is killed when it receives the message that its fruit was taken.
  case stationKilled
  /// A client empties the queue while a station waits for fruit from a slow stock.
  case stationRecalled
  /// The coordinator is killed, or its disk is full, when the stock answers that fruit was returned.
  case releaseInterrupted
  /// The faults of the stock service, for the vending machine.
  case vendingKilled, vendingSlow, vendingStuck, vendingDiskFull, vendingDiskFailed, vendingConnectionLost,
    vendingLate
  case vendingCommitLost, vendingCommitSlow, vendingOutOfDescriptors, vendingAskedToExit
  /// The vending machine is killed soon after the stock has carried out one of its orders.
  case purchaseInterrupted
  /// The stock service is killed soon after the vending machine has requested a drink.
  case stockKilledInPurchase

  /// True for a fault of the stock service, its connections, its clients or its disk.
  var isOfTheStock: Bool {
    (FaultKind.stockKilled.rawValue...FaultKind.releaseInterrupted.rawValue).contains(rawValue)
  }

  /// True for a fault of the vending machine, its connections or its disk, or of a purchase.
  var isOfTheMachine: Bool { rawValue >= FaultKind.vendingKilled.rawValue }

  /// The name in reports: lower-case words with hyphens.
  public var name: String {
    var words = ""
    for character in String(describing: self) {
      words += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    return words
  }
}
