// Throughput and recovery of whole branches on one PostgreSQL server. The branches have real coordinators and
// tellers, each branch has its own home, and all run on one machine with the server.
// Invariant: a measurement has its own database.
// Errors: BenchFailure, or the error of a client, the server or the system.
#if HAS_POSTGRES
  import ControlClient
  import Glibc
  import Posix
  import Time
  import Wire

  extension Bench {
    func measureBranches(_ address: String) throws {
      try measureBranchesServing(address)
      try measureBranchesWaking(address)
      try measureLostBranch(address)
      try measureBranchCoordinatorKills(address)
    }

    /// Rate at which two branches that start at the same time serve all waiting customers. For comparison, one bank
    /// with as many tellers and a database in its home is measured as well.
    private func measureBranchesServing(_ address: String) throws {
      let alone = try BenchBank(self, BankSetting(deposit: 4, loan: 2))
      let own = try rounds { try served(by: [alone]) { try alone.ask(.awaitIdle) } }
      try alone.discard()
      for (page, target) in [(1_000, Target.atLeast(50_000)), (100, nil)] {
        let database = try ScratchDatabase(address, "serving")
        let configuration = try file("page-\(page).json", #"{"store":{"claim_size":\#(page)}}"#)
        let setting = BankSetting(configuration: configuration, store: database.address)
        let branches = try (0..<2).map { _ in try BenchBank(self, setting) }
        let figures = try rounds {
          try served(by: branches) {
            let waiting = "SELECT coalesce(sum(waiting), 0)::bigint FROM bank.counter_delta"
            while try database.integer(waiting) > 0 {}
          }
        }
        for bank in branches { try bank.discard() }
        add(
          "postgres", "served by 2 branches of 3 tellers, pages of \(page), on the server's host", "/s",
          figures, target: target)
      }
      add("postgres", "  by one bank with 6 tellers and SQLite", "/s", own)
    }

    /// Rate at which banks serve customers that were all enqueued before.
    private func served(by banks: [BenchBank], _ awaitEmpty: () throws -> Void) throws -> Double {
      let count = scale.served
      for bank in banks { try bank.ask(.pause(nil)) }
      try banks[0].enqueue(count)
      return try Self.perSecond(count) {
        for bank in banks { try bank.ask(.resume(nil)) }
        try awaitEmpty()
      }
    }

    /// Measures the time from a request at a branch without windows to the start of the service at another branch.
    private func measureBranchesWaking(_ address: String) throws {
      let store = try ScratchDatabase(address, "waking").address
      let door = try BenchBank(self, BankSetting(deposit: 0, loan: 0, store: store))
      let windows = try BenchBank(self, BankSetting(store: store))
      let watch = try StartLatencyProbe(asking: try door.connect(), observing: try windows.connect())
      try watch.run(count: scale.rounds > 2 ? 1_000 : 300, pace: .milliseconds(10))
      let samples = Samples(watch.latencies)
      for bank in [door, windows] { try bank.discard() }
      add(
        "postgres", "enqueue at one branch to start at another, 100 customers a second", "ms", samples,
        target: .below(2), note: "durable in between")
      add("postgres", "  the slowest of a hundred", "ms", Samples(samples.percentile(99)), target: .below(10))
    }

    /// Measures the time from the kill of a whole branch that serves a customer to the start of this customer at
    /// another branch.
    private func measureLostBranch(_ address: String) throws {
      let database = try ScratchDatabase(address, "lost")
      var figures: [Double] = []
      for round in 0..<scale.rounds {
        let setting = BankSetting(
          deposit: 1, loan: 0, speed: nil, configuration: try patientConfiguration(), store: database.address)
        let victim = try BenchBank(self, setting)
        let eventConnection = try victim.connect()
        _ = try eventConnection.send(.follow)
        try victim.enqueue(1, .deposit)
        try awaitEvent(.started, on: eventConnection)
        let other = try BenchBank(self, setting)
        let heard = try other.connect()
        _ = try heard.send(.follow)
        let begin = SystemClock.monotonic()
        victim.kill()
        try awaitEvent(.started, on: heard)
        figures.append(SystemClock.monotonic().since(begin).inMilliseconds)
        other.kill()
        for bank in [victim, other] { Directory.removeTree(bank.home.path) }
        // The customer's work takes an hour, and both branches were killed. The schema is deleted for the next round.
        if round + 1 < scale.rounds {
          try database.rows("DROP SCHEMA bank CASCADE")
        }
      }
      add(
        "postgres", "whole branch killed: its customer is started at another", "ms", Samples(figures),
        target: .below(5_000))
    }

    /// Measures the time from the kill of a coordinator to the first receipt of its successor.
    private func measureBranchCoordinatorKills(_ address: String) throws {
      let setting = BankSetting(store: try ScratchDatabase(address, "killed").address)
      let home = newHome()
      var bank = try BenchBank(self, home: home, setting)
      try bank.ask(.pause(nil))
      try bank.enqueue(scale.served)
      try bank.ask(.resume(nil))
      var figures: [Double] = []
      for _ in 0..<scale.coordinatorKills {
        let begin = SystemClock.monotonic()
        bank.kill()
        let successor = try launcher.launch(BenchBank.order(setting, home: home))
        _ = try successor.connection.send(.follow)
        try awaitEvent(.completed, on: successor.connection)
        figures.append(SystemClock.monotonic().since(begin).inMilliseconds)
        successor.process.kill(SIGKILL)
        _ = successor.process.wait()
        bank = try BenchBank(self, home: home, setting)
        try bank.enqueue(scale.served / 4)
      }
      bank.kill()
      Directory.removeTree(home.path)
      add(
        "postgres", "coordinator of a branch killed and started: a customer is served", "ms",
        Samples(figures), target: .below(100))
    }
  }
#endif
