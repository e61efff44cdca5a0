// Directed histories: each scenario draws some kinds of fault much more often, and takes the seeds whose bank has the
// parts that these faults concern. Coincidences that a thousand ordinary histories contain once are frequent there.
// Invariant: a seed without a scenario gives the same history as if there were no scenarios.

/// A kind of directed history.
public enum Scenario: String, SelectableCase {
  case reloadWhileClosing = "The configuration is reloaded while the bank closes."
  case outsideWorkersAfterRestart = "The coordinator is killed while outside workers have customers."
  case unreliableWorkers = "Workers with several customers hang, answer late and die."
  case interruptedCommands = "Commands are cancelled, hang, and lose their runner and the coordinator."
  case countedAttempts = "The coordinator is killed in a bank that counts attempts."
  case stalledCoordinator = "A guarded coordinator stalls, and its commits take long."
  case fullDisk = "The disk of the queue is full again and again."
  case fullStockDisk = "The stock's disk is full while customers are cancelled and served."
  case fullVendingDisk = "The disks of the vending machine and of the stock are full."
  case stuckServices = "The stock and the vending machine hang, are slow, and do long work."
  case lateStock = "Answers of the stock arrive after the client has given up."

  /// The kinds of fault that are drawn more often.
  var kinds: [FaultKind] {
    switch self {
    case .reloadWhileClosing: [.configurationChanged, .coordinatorSignalled, .foregroundProcessKilled]
    case .outsideWorkersAfterRestart, .countedAttempts: [.coordinatorKilled]
    case .unreliableWorkers: [.coordinatorStalled, .messageLate]
    case .interruptedCommands: [.coordinatorKilled, .tellerKilled]
    case .stalledCoordinator: [.coordinatorStalled, .commitSlow]
    case .fullDisk: [.diskFull, .commitSlow]
    case .fullStockDisk: [.stockDiskFull, .releaseInterrupted]
    case .fullVendingDisk: [.vendingDiskFull, .stockDiskFull]
    case .stuckServices: [.stockStuck, .vendingStuck, .stockSlow, .stockAuditLong]
    case .lateStock: [.stockLate, .stockSlow, .stationRecalled]
    }
  }

  /// True if the bank of a seed has what the scenario needs.
  private func suits(_ seed: UInt64) -> Bool {
    let plan = FaultPlan(seed: seed)
    guard plan.faultIntensity != .calm else { return false }
    return switch self {
    case .reloadWhileClosing, .fullDisk: true
    case .outsideWorkersAfterRestart: plan.externalWorkers.isEnabled
    case .unreliableWorkers: plan.externalWorkers.isEnabled && plan.externalWorkers.isSlow
    case .interruptedCommands: plan.commandServices.isEnabled
    case .countedAttempts: plan.externalWorkers.isEnabled && plan.externalWorkers.maxAttempts != nil
    case .stalledCoordinator: GuardState(seed: seed).isEnabled
    case .fullStockDisk, .lateStock: plan.stock.isEnabled
    case .fullVendingDisk, .stuckServices: plan.vending.isEnabled
    }
  }

  /// The first seed from this one on whose bank has what the scenario needs.
  public func seed(from first: UInt64) -> UInt64 {
    var seed = first
    while !suits(seed) { seed &+= 1 }
    return seed
  }
}
