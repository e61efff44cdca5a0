// Replay of another queue's statements on several connections. Each connection repeatedly takes jobs and completes
// them, with one or several of these rounds in flight.
// Invariant: a figure counts committed jobs only, and every job once.
#if HAS_POSTGRES
  import Posix
  import Postgres
  import Time

  final class PostgresBaselineLoad: PostgresHandler {
    private let queue: PostgresBaselineQueue
    private let loop: EventLoop
    private var connections: [PostgresConnection] = []
    private var ready = 0
    private var failure: PostgresError?
    /// Jobs not yet taken in this round.
    private var remaining = 0
    private var done = 0
    /// Number of running loops that take and complete jobs.
    private var rounds = 0

    /// Connects, and creates the tables.
    init(_ address: String, _ queue: PostgresBaselineQueue, connections count: Int) throws {
      self.queue = queue
      loop = try EventLoop()
      // The session settings are the same as for the bank, but the server chooses the query plans.
      let place = try PostgresURL(
        address, sessionDefaults: ["plan_cache_mode=auto"], schemas: [queue.schema])
      for _ in 0..<count {
        let connection = PostgresConnection(to: place, loop: loop)
        connection.handler = self
        connections.append(connection)
      }
      try runIteration { ready == count }
      try ask([.once("CREATE SCHEMA \(queue.schema)")])
      try ask(queue.tables.map { .once($0) })
    }

    deinit { for connection in connections { connection.close() } }

    func connected(_ connection: PostgresConnection, to server: PostgresServer) { ready += 1 }
    /// Stores the error of a lost connection, which ends the measurement.
    func lost(_ connection: PostgresConnection, _ error: PostgresError) { failure = error }
    /// Does nothing, because no channel is used.
    func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

    /// Jobs per second, from the first request for jobs to the completion of the last job. A request takes up to
    /// `pages` jobs; `pipelineDepth` requests are in flight on each connection.
    func perSecond(_ count: Int, pages: Int, pipelineDepth: Int) throws -> Double {
      try ask([PostgresStatement("fill", [.integer], queue.fill)(.integer(Int64(count)))])
      try ask([.once("ANALYZE")])
      (remaining, done) = (count, 0)
      let begin = SystemClock.monotonic()
      for connection in connections {
        for _ in 0..<pipelineDepth {
          rounds += 1
          try take(connection, pages)
        }
      }
      try runIteration { rounds == 0 }
      let seconds = SystemClock.monotonic().since(begin).inSeconds
      guard done == count else { throw BenchFailure("\(queue.name): \(done) of \(count) jobs were done") }
      return Double(done) / seconds
    }

    /// Takes up to `page` jobs on a connection, and completes them when they arrive.
    private func take(_ connection: PostgresConnection, _ page: Int) throws {
      let take = PostgresStatement("take", [.integer], queue.take)
      try connection.send([take(.integer(Int64(page)))]) { [weak self] outcome in
        guard let self, let rows = self.rows(outcome) else { return }
        let jobs = (0..<rows.count).compactMap { rows.integer($0, 0) }
        self.remaining -= jobs.count
        // Other requests have taken or locked the remaining jobs.
        guard !jobs.isEmpty else { return self.takeNext(connection, page) }
        self.attempt { try self.finish(jobs, connection, page) }
      }
    }

    /// Completes jobs, and then takes the next ones.
    private func finish(_ jobs: [Int64], _ connection: PostgresConnection, _ page: Int) throws {
      let done = PostgresStatement("done", [.integers], queue.done)
      try connection.send([done(.integers(jobs))]) { [weak self] outcome in
        guard let self, self.rows(outcome) != nil else { return }
        self.done += jobs.count
        self.takeNext(connection, page)
      }
    }

    /// Takes more jobs, or ends this loop if all jobs are taken.
    private func takeNext(_ connection: PostgresConnection, _ page: Int) {
      guard remaining > 0 else { return rounds -= 1 }
      attempt { try take(connection, page) }
    }

    /// The rows of an outcome; nil after an error, which ends the measurement.
    private func rows(_ outcome: PostgresOutcome) -> PostgresRows? {
      switch outcome {
      case .done(let rows): return rows.first
      case .refused(let error), .unknown(let error):
        failure = error
        return nil
      }
    }

    /// Calls the closure. An error of the server ends the measurement.
    private func attempt(_ body: () throws -> Void) {
      do { try body() } catch { failure = failure ?? (error as? PostgresError) }
    }

    /// Runs statements, and waits until they have ended.
    private func ask(_ segment: [PostgresCall]) throws {
      var told = false
      try connections[0].send(segment) { [weak self] outcome in
        told = true
        _ = self?.rows(outcome)
      }
      try runIteration { told }
    }

    /// Runs the loop until a condition holds.
    private func runIteration(until condition: () throws -> Bool) throws {
      while try !condition() {
        try loop.runOnce(until: connections.map(\.nextDeadline).reduce(nil, MonotonicTime.earlier))
        for connection in connections { connection.finishIteration() }
        if let failure { throw BenchFailure("\(queue.name): \(failure.message(in: .english))") }
      }
    }
  }
#endif
