// Measurements on a PostgreSQL server: the database of a shared bank without a coordinator, other queues, and branches.
// `scripts/bench` starts the server and passes its address.
// Errors: the errors of the server. Without a server or its client library, the report does not contain these rows.
import Posix
import Time

extension Bench {
  /// Environment variable with the address of the server.
  static let address = "BANK_BENCH_POSTGRES"

  /// Runs all measurements on the server whose address is in the environment.
  func measurePostgres() throws {
    guard let address = Environment.value(Self.address), !address.isEmpty else {
      return printProgress("there is no PostgreSQL server to measure")
    }
    #if HAS_POSTGRES
      for (name, measure) in [
        ("the store alone", measureStoreAlone), ("a pinned snapshot", measurePinnedSnapshot),
        ("a slow network", measureLongDelay), ("others", measureBaselines), ("branches", measureBranches),
        ("a promotion", measurePromotion),
      ] {
        printProgress("postgres: \(name)")
        try measure(address)
      }
    #else
      printProgress("built without PostgreSQL's library (libpq): cannot measure \(address)")
    #endif
  }

  #if HAS_POSTGRES
    /// Number of customers in one round.
    private var customers: Int { scale.rounds > 2 ? 300_000 : 150_000 }

    /// Measures how many customers a second the shared database serves when branches claim and complete pages, without
    /// coordinators and tellers.
    private func measureStoreAlone(_ address: String) throws {
      for (connections, page, pipelineDepth, target) in [
        (2, 1_000, 2, Target.atLeast(100_000)), (2, 100, 4, nil), (1, 1_000, 2, nil),
      ] {
        let database = try ScratchDatabase(address, "alone")
        let load = try PostgresLoad(database.address, connections: connections)
        var taken: [Double] = []
        let served = try rounds {
          taken.append(Double(customers) / (try load.enqueue(customers, inBatchesOf: 5_000)))
          return Double(customers) / (try load.serve(customers, pages: page, pipelineDepth: pipelineDepth))
        }
        let who = "\(connections) connection\(connections == 1 ? "" : "s")"
        add(
          "postgres", "served in PostgreSQL, the store alone, \(who), pages of \(page)", "/s", served,
          target: target)
        if page == 1_000 {
          add("postgres", "tickets in PostgreSQL, \(who), 5,000 a transaction", "/s", Samples(taken))
        }
      }
    }

    /// Measures one load with a held snapshot and without one, alternating. The snapshot is older than the customers,
    /// so the server must keep the row of every finished customer.
    private func measurePinnedSnapshot(_ address: String) throws {
      let database = try ScratchDatabase(address, "pinned")
      let load = try PostgresLoad(database.address, connections: 2)
      /// Rate at which the load serves customers that it has enqueued before.
      func perSecond() throws -> Double {
        _ = try load.enqueue(customers, inBatchesOf: 5_000)
        return Double(customers) / (try load.serve(customers, pages: 1_000, pipelineDepth: 2))
      }
      let ratios = try rounds {
        let before = try perSecond()
        try database.pinSnapshot()
        let pinned = try perSecond()
        try database.releaseSnapshot()
        return pinned / ((before + (try perSecond())) / 2)
      }
      add(
        "postgres", "served with a pinned snapshot, relative to without", "×", ratios, target: .atLeast(0.85))
    }

    /// Measures one branch with a long network delay to the server.
    private func measureLongDelay(_ address: String) throws {
      let database = try ScratchDatabase(address, "far")
      let load = try PostgresLoad(
        database.address, connections: 1, by: (Paths.join(scratch, "far"), .milliseconds(5)))
      let count = customers / 3
      let served = try rounds {
        _ = try load.enqueue(count, inBatchesOf: 5_000)
        return Double(count) / (try load.serve(count, pages: 100, pipelineDepth: 6))
      }
      add(
        "postgres", "served by a branch 10 ms away, pages of 100, six in flight", "/s", served,
        target: .atLeast(20_000))
    }

    /// Measures the other queues, and the ratio of the shared database to each of them.
    private func measureBaselines(_ address: String) throws {
      let count = customers / 3
      let database = try ScratchDatabase(address, "contest")
      let ours = try PostgresLoad(database.address, connections: 2)
      var bars: [(name: String, figure: Double)] = []
      /// Measures another queue, and the shared database after it in each round.
      func compare(_ name: String, _ target: Target?, _ perSecond: () throws -> Double) throws {
        var figures: [Double] = []
        let ratios = try rounds {
          let their = try perSecond()
          _ = try ours.enqueue(count, inBatchesOf: 5_000)
          let our = Double(count) / (try ours.serve(count, pages: 1_000, pipelineDepth: 2))
          figures.append(their)
          return our / their
        }
        bars.append((name, Samples(figures).median))
        add("postgres", "  \(name)", "/s", Samples(figures))
        add("postgres", "  the shared database beside it", "×", ratios, target: target)
      }
      for baseline in PostgresBaselineQueue.all {
        let theirs = try PostgresBaselineLoad(database.address, baseline, connections: 2)
        // The queue is first measured as its clients use it, with one request after another on each connection. It is
        // then measured with as many requests in flight as the shared database has, and with requests of the same
        // size.
        for (page, pipelineDepth, goal) in [
          (baseline.page, 1, Target.atLeast(baseline.goal)), (baseline.page, 2, nil), (1_000, 2, nil),
        ] {
          let way = pipelineDepth > 1 ? ", two in flight on each" : ""
          try compare("the statements of \(baseline.name), \(page) at once\(way)", goal) {
            try theirs.perSecond(count, pages: page, pipelineDepth: pipelineDepth)
          }
        }
      }
      for baseline in PostgresPythonBaseline.all {
        for (workers, goal) in [(1, Target.atLeast(baseline.goal)), (2, nil)] {
          try compare("\(baseline.name), \(workers) worker\(workers > 1 ? "s" : "")", goal) {
            try baseline.perSecond(self, address, workers: workers)
          }
        }
      }
      let own = report.rows.first { $0.group == "postgres" }.map {
        [("the shared database", $0.samples.median)]
      }
      chart("jobs a second on one PostgreSQL, two connections", (own ?? []) + bars)
    }
  #endif
}
