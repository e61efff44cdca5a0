// Frequency of the faults of one history, and the size of its simulated bank, drawn from the seed at the start.
// Invariant: the same seed gives the same plan in every build. Some seeds plan no faults, to find defects that need
// none.
import BankModel
import QueueCore
import Time

struct FaultPlan {
  /// How often faults happen.
  enum FaultIntensity: Int64 {
    case calm, moderate, severe
  }

  let faultIntensity: FaultIntensity
  /// Approximate average time between two faults.
  let interval: TimeSpan
  /// Time span in which most faults happen.
  let duration: TimeSpan
  /// Relative frequency of the kinds of fault that are drawn.
  let weights: [(kind: FaultKind, weight: Int64)]
  let policy: QueuePolicy
  /// Number of windows of each service.
  let windows: [ServiceName: Int32]
  let clients: Int
  /// Number of requests of each client.
  let commands: Int
  /// Factor for the clients' pauses between requests.
  let thinkTimeFactor: Int64
  /// Customers in one slice of a large request.
  let slice: Int64
  /// Duration of the simulated work for one customer.
  let workMicroseconds: Int64
  /// Time in which the coordinator stages one change.
  let timeOfChange: TimeSpan
  /// Time for which the coordinator collects changes before it commits them.
  let gather: TimeSpan
  /// True if some customers are ordered for later.
  let delaysCustomers: Bool
  /// True if clients subscribe to snapshots.
  let subscribesToBoard: Bool
  let stock: StockPlan
  let vending: VendingPlan
  let externalWorkers: ExternalWorkerPlan
  let commandServices: CommandServicesPlan
  let slowDisk: SlowDiskPlan

  /// Faults that a history may have without a stock and a vending machine.
  private static let drawnKinds: [FaultKind] = [
    .coordinatorKilled, .coordinatorStalled, .tellerKilled, .tellerStuck, .tellerSlow, .tellerFailed,
    .tellerMisbehaved, .tellerSentGarbage, .tellerKilledBeforeReady, .tellerLate, .connectionLost,
    .messageLate, .networkSlow,
    .diskFull, .diskFailed, .clockJumped, .clientStoppedReading, .coordinatorOutOfDescriptors, .commitSlow,
    .windowsScaled,
    .foregroundProcessKilled, .configurationChanged, .coordinatorSignalled,
  ]
  /// Further faults of a history with a stock.
  private static let stockKinds: [FaultKind] = [
    .stockKilled, .stockSlow, .stockStuck, .stockAuditLong, .stockDiskFull, .stockDiskFailed,
    .stockConnectionLost,
    .stockLate, .stationKilled, .stationRecalled,
    .releaseInterrupted, .stockCommitSlow, .stockOutOfDescriptors, .stockSubscriberStoppedReading,
    .stockAskedToExit,
  ]
  /// Further faults of a history with a vending machine.
  private static let vendingKinds: [FaultKind] = [
    .vendingKilled, .vendingSlow, .vendingStuck, .vendingDiskFull, .vendingDiskFailed, .vendingConnectionLost,
    .vendingLate,
    .purchaseInterrupted, .stockKilledInPurchase, .vendingCommitSlow, .vendingOutOfDescriptors,
    .vendingAskedToExit,
  ]

  init(seed: UInt64, scenario: Scenario? = nil) {
    var chance = SeededGenerator(seed: seed ^ 0x5EED_0FA1_7000_0001)
    let drawn = chance.draw(0...9)
    faultIntensity = drawn == 0 ? .calm : drawn < 7 ? .moderate : .severe
    let work = [0, 200, 5_000, 40_000, 150_000][Int(chance.draw(0...4))]
    workMicroseconds = Int64(work)
    let mean: Int64 = faultIntensity == .severe ? chance.draw(5...40) : chance.draw(40...250)
    interval = .milliseconds(mean)
    duration = faultIntensity == .calm ? .zero : .milliseconds(mean * chance.draw(10...40))
    var later = SeededGenerator(seed: seed ^ 0x1A7E_0000)
    delaysCustomers = later.draw(0...2) == 0
    var looks = SeededGenerator(seed: seed ^ 0xB_0AD7_461C)
    subscribesToBoard = looks.draw(0...3) == 0
    stock = StockPlan(seed: seed)
    externalWorkers = ExternalWorkerPlan(seed: seed)
    slowDisk = SlowDiskPlan(seed: seed)
    commandServices = CommandServicesPlan(seed: seed, besides: stock, externalWorkers)
    vending = VendingPlan(seed: seed, besides: stock, isFaultFree: faultIntensity == .calm)
    // Each history draws some kinds of fault more often than others, so that rare faults also coincide.
    let kinds =
      Self.drawnKinds + (stock.isEnabled ? Self.stockKinds : [])
      + (vending.isEnabled ? Self.vendingKinds : [])
    var weights: [(kind: FaultKind, weight: Int64)] = kinds.map { kind in
      let weight = chance.draw(0...3)
      return switch kind {
      case .coordinatorKilled, .tellerKilled, .stockKilled, .vendingKilled: (kind, weight * 3 + 1)
      case .messageLate, .tellerFailed, .diskFull, .diskFailed, .stationKilled, .vendingDiskFull,
        .purchaseInterrupted, .releaseInterrupted:
        (kind, weight * 4)
      // A hung service is unavailable for seconds, and a bank that stops accepts no customers. Draw these faults less
      // often.
      case .stockStuck, .vendingStuck, .foregroundProcessKilled, .coordinatorSignalled: (kind, weight / 2)
      case .configurationChanged: (kind, weight)
      default: (kind, weight * weight)
      }
    }
    var policy = QueuePolicy()
    policy.lineCapacity = Int(chance.draw(2...8))
    policy.lineLowWater = Int(chance.draw(1...4))
    policy.maxLines = 4
    policy.maxWaiting = chance.draw(0...2) == 0 ? chance.draw(8...30) : chance.draw(60...400)
    policy.maxUncommitted = Int(chance.draw(6...200))
    policy.delayedCapacity = Int(chance.draw(1...6))
    policy.delayedLowWater = max(1, policy.delayedCapacity / 2)
    policy.maxCrashes = Int32(chance.draw(1...4))
    policy.maxFailures = Int32(chance.draw(1...4))
    // Some leases are shorter than the work, so that the tellers' beats have to extend them.
    policy.lease = .milliseconds(Int64(work) / 1_000 * chance.draw(1...8) / 2 + chance.draw(30...300))
    // In some histories the retry delay is long, and many customers are delayed when the coordinator is
    // killed.
    policy.retryInitialDelay = .milliseconds(
      chance.draw(0...3) == 0 ? chance.draw(500...3_000) : chance.draw(5...200))
    policy.retryMaxDelay = max(policy.retryInitialDelay, .milliseconds(chance.draw(200...2_000)))
    // In some histories a teller holds one customer at a time, which is the default.
    if chance.draw(0...1) == 0 { policy.prefetch = Int(chance.draw(2...6)) }
    policy.maxUnderway = slowDisk.depth
    externalWorkers.adapt(&policy)
    commandServices.adapt(&policy)
    self.policy = policy
    windows = [.deposit: Int32(chance.draw(1...3)), .loan: Int32(chance.draw(1...2)), .juice: stock.stations]
    clients = Int(chance.draw(1...3))
    commands = Int(chance.draw(6...22))
    slice = chance.draw(2...7)
    gather = .milliseconds(chance.draw(0...3))
    thinkTimeFactor = [1, 1, 4, 25][Int(chance.draw(0...3))]
    // In some histories a large request takes more than one loop iteration.
    timeOfChange = TimeSpan(nanoseconds: [200, 20_000, 1_200_000][Int(chance.draw(0...2))])
    // Some kinds of fault are drawn much more often than the others.
    for _ in 0..<3 { weights[Int(chance.draw(0...Int64(kinds.count) - 1))].weight += 50 }
    for place in weights.indices where scenario?.kinds.contains(weights[place].kind) == true {
      weights[place].weight += 100
    }
    self.weights = weights
  }

  /// Draws a kind of fault by the weights; nil if all of them are 0.
  func draw(_ chance: inout SeededGenerator) -> FaultKind? {
    let sum = weights.reduce(0) { $0 + $1.weight }
    guard sum > 0 else { return nil }
    var place = chance.draw(0...sum - 1)
    for (kind, weight) in weights {
      if place < weight { return kind }
      place -= weight
    }
    return nil
  }
}

/// The stock in one history, drawn from the seed before the history starts.
/// Invariant: the same seed gives the same plan in every build. In some histories fruit is scarce, so that customers
/// compete for the last piece.
struct StockPlan {
  /// False in the histories that simulate the bank without a stock.
  let isEnabled: Bool
  /// Number of juice stations.
  let stations: Int32
  let assortment: Assortment
  /// Number of clients that change the amounts of fruit, and of the requests of each client.
  let keepers: Int
  let changes: Int64
  /// Number of subscribers to the stock.
  let viewers: Int
  /// Additional duration of a usual commit of the stock, as if the stock collected orders first.
  let gather: TimeSpan
  /// Time that the coordinator waits for the stock to confirm that an order was returned.
  let releaseTimeout: TimeSpan

  init(seed: UInt64) {
    var chance = SeededGenerator(seed: seed ^ 0x57_0C4B_00C5_0000)
    isEnabled = chance.draw(0...4) < 3
    stations = isEnabled ? Int32(chance.draw(1...3)) : 0
    let hunger = chance.draw(0...2)
    var fruits = Assortment.standard.fruits
    for place in fruits.indices {
      fruits[place].initial = [chance.draw(0...6), chance.draw(0...25), chance.draw(20...300)][Int(hunger)]
    }
    assortment = Assortment(fruits: fruits, juices: Assortment.standard.juices)
    keepers = Int(chance.draw(0...2))
    changes = chance.draw(2...12)
    viewers = Int(chance.draw(0...2))
    gather = TimeSpan(nanoseconds: [0, 0, 50_000, 1_000_000][Int(chance.draw(0...3))])
    // Some of these values are shorter than pauses of the stock.
    releaseTimeout = .milliseconds([3, 5, 15, 60, 2_000][Int(chance.draw(0...4))])
  }
}

/// The vending machine in one history, drawn from the seed before the history starts.
/// Invariant: the same seed gives the same plan in every build. The machine sells few products, so that
/// customers compete for the last drink and the last coin.
struct VendingPlan {
  /// True if this history has a vending machine, which requires a stock.
  let isEnabled: Bool
  let table: ProductTable
  /// Number of clients that insert money and buy drinks, and of the requests of each client.
  let shoppers: Int
  let requestCount: Int64
  /// Number of manager operations.
  let orders: Int64
  /// True if the stock's disk is full when the vending machine starts for the first time.
  let startsWithFullStock: Bool
  /// Time for which the first process of the vending machine stalls before it starts.
  let arrival: TimeSpan
  /// Time that the machine waits for the stock to hand out a drink.
  let patience: TimeSpan
  /// Time that the machine waits for the stock to store a change by the manager.
  let managerTimeout: TimeSpan
  /// Time that the machine waits for the stock to confirm a returned drink before it repeats the request.
  let releaseTimeout: TimeSpan

  init(seed: UInt64, besides stock: StockPlan, isFaultFree: Bool) {
    var chance = SeededGenerator(seed: seed ^ 0x0D_A1_4C00_0000_0007)
    isEnabled = stock.isEnabled && chance.draw(0...1) == 0
    let products = ProductTable.standard.products
    let first = Int(chance.draw(0...Int64(products.count) - 1))
    let count = Int(chance.draw(1...3))
    table = ProductTable((0..<count).map { products[(first + $0 * 3) % products.count] })
    shoppers = Int(chance.draw(1...3))
    requestCount = chance.draw(4...16)
    orders = chance.draw(3...10)
    arrival = chance.draw(0...2) == 0 ? .milliseconds(chance.draw(20...300)) : .zero
    startsWithFullStock = !isFaultFree && arrival > .zero && chance.draw(0...1) == 0
    // Some of these values are shorter than the pauses of the stock.
    patience = .milliseconds([3, 8, 40, 300, 8_000][Int(chance.draw(0...4))])
    managerTimeout = max(patience, .milliseconds(50))
    releaseTimeout = .milliseconds([3, 50, 3_600_000][Int(chance.draw(0...2))])
  }
}
