// Properties of one history of several branches, drawn from the seed before it starts.
// Invariant: the same seed gives the same plan in every build.

#if HAS_POSTGRES
  import BankModel
  import QueueCore
  import Time

  /// What one history of several branches contains, drawn from the seed.
  struct BranchPlan {
    let isFaultFree: Bool
    /// Usual time between two faults.
    let interval: TimeSpan
    /// Time after which the faults end.
    let duration: TimeSpan
    let branches: Int
    /// Number of clients of each branch.
    let clients: Int
    /// Number of requests that each client chooses.
    let commands: Int64
    /// Number of customers that a branch claims at once.
    let page: Int32
    /// Number of deposit windows and of loan windows of each branch.
    let windows: Int64
    /// Duration of the work for one customer.
    let workMicroseconds: Int64
    let policy: QueuePolicy
    /// How often each fault is drawn, relative to the others.
    let weights: [(fault: BranchFault, weight: Int64)]
    /// Errors of the branches' calendars in milliseconds; the last is that of the database's server.
    let calendars: [Int64]
    /// The shortest delay to the database, in nanoseconds.
    let distance: Int64
    /// True if some customers are ordered for later.
    let delaysCustomers: Bool
    /// True if the bank may be asked to stop while customers still wait.
    let stopsEarly: Bool
    /// `stopsDuringRequests` is true if clients still send requests when the bank is asked to stop. `stopsNow` is true
    /// if another client sends `stop --now` at that time.
    let stopsDuringRequests: Bool
    let stopsNow: Bool
    /// True if some customers cannot be served before the faults have ended.
    let hasUnservableCustomers: Bool
    /// True if one branch is killed when the faults end, and never returns.
    let hasLostBranch: Bool
    /// True if juice is ordered, which each branch makes for its own customers. There is no stock, so
    /// releases stay recorded until the end.
    let hasJuice: Bool
    /// Size limit in bytes of requests that are sent whole, and of the slices of others; nil for the default.
    let wholeBytes: Int?

    init(seed: UInt64) {
      var chance = SeededGenerator(seed: seed ^ 0xB4A2_C4E5_0000_0001)
      let faultIntensity = chance.draw(0...9)
      isFaultFree = faultIntensity == 0
      let mean = faultIntensity < 6 ? chance.draw(150...700) : chance.draw(30...150)
      interval = .milliseconds(mean)
      duration = isFaultFree ? .zero : .milliseconds(mean * chance.draw(8...24))
      branches = Int(chance.draw(2...4))
      clients = Int(chance.draw(1...2))
      commands = chance.draw(4...12)
      page = Int32(chance.draw(0...3) == 0 ? 1 : chance.draw(2...8))
      windows = chance.draw(1...2)
      workMicroseconds = [0, 2_000, 30_000, 120_000][Int(chance.draw(0...3))]
      distance = [60_000, 300_000, 5_000_000][Int(chance.draw(0...2))]
      delaysCustomers = chance.draw(0...2) == 0
      stopsEarly = chance.draw(0...1) == 0
      hasLostBranch = !isFaultFree && chance.draw(0...2) == 0
      var policy = QueuePolicy()
      policy.lineCapacity = 8
      policy.maxCrashes = Int32(chance.draw(2...4))
      policy.maxFailures = Int32(chance.draw(2...4))
      policy.lease = .milliseconds(workMicroseconds / 1_000 * 3 + chance.draw(200...2_000))
      policy.retryInitialDelay = .milliseconds(chance.draw(5...400))
      policy.retryMaxDelay = max(policy.retryInitialDelay, .milliseconds(chance.draw(200...2_000)))
      policy.maxUnderway = Int(chance.draw(1...4))
      if chance.draw(0...1) == 0 { policy.prefetch = Int(chance.draw(2...4)) }
      if chance.draw(0...4) == 0 { policy.maxAttempts = Int16(chance.draw(6...12)) }
      self.policy = policy
      var calendars: [Int64] = []
      for _ in 0...branches {
        calendars.append(chance.draw(0...2) == 0 ? chance.draw(-14_400_000...14_400_000) : 0)
      }
      self.calendars = calendars
      var weights: [(fault: BranchFault, weight: Int64)] = BranchFault.allCases.map { fault in
        let weight = chance.draw(0...3)
        return switch fault {
        case .branchKilled, .branchStalled, .branchPartitioned, .connectionLost: (fault, weight * weight + 2)
        default: (fault, weight * weight)
        }
      }
      for _ in 0..<2 { weights[Int(chance.draw(0...Int64(weights.count) - 1))].weight += 20 }
      self.weights = weights
      stopsDuringRequests = chance.draw(0...2) == 0
      stopsNow = chance.draw(0...3) == 0
      hasUnservableCustomers = chance.draw(0...1) == 0
      hasJuice = chance.draw(0...2) == 0
      wholeBytes = chance.draw(0...1) == 0 ? Int(chance.draw(1...300)) : nil
    }

    /// Draws a fault in proportion to the weights; nil if all of them are 0.
    func draw(_ chance: inout SeededGenerator) -> BranchFault? {
      var place = chance.draw(0...max(1, weights.reduce(0) { $0 + $1.weight }) - 1)
      for (fault, weight) in weights {
        if place < weight { return fault }
        place -= weight
      }
      return nil
    }
  }
#endif
