// Performance of the shared database without a coordinator. Each branch has one connection, on which it claims pages
// and completes their customers.
// Invariant: a figure counts committed receipts only.
#if HAS_POSTGRES
  import BankModel
  import Posix
  import Postgres
  import PostgresStore
  import QueueCore
  import Time

  final class PostgresLoad: PostgresHandler {
    /// Number of the only lane, whose customers are regular deposits.
    private static let lane: Int64 = 4864
    private static let lanes = [Line(service: .deposit, priority: .regular): lane]
    /// Longer than any measurement, so that no branch is fenced.
    private static let lease = TimeSpan.seconds(600)
    private let loop: EventLoop
    private let place: PostgresURL
    private var workers: [Worker] = []
    private var failure: PostgresError?
    private var ready = 0
    private var relay: DelayRelay?

    /// One branch on its connection.
    private final class Worker {
      let connection: PostgresConnection
      var branch: PostgresBranch?
      var commits: Int64 = 0
      /// Number of requested pages that were not received yet.
      var claims = 0
      var lastClaim: Int64 = 0
      /// True after a claim has returned no customers.
      var hasEverything = false
      init(_ connection: PostgresConnection) { self.connection = connection }
    }

    /// Connects, creates the schema, and joins as many branches as there are connections.
    ///
    /// - Parameter viaRelay: the directory of a relay to the server, and its delay in each direction; nil for a
    ///   direct connection.
    init(
      _ address: String, connections: Int, by viaRelay: (directory: String, delay: TimeSpan)? = nil
    ) throws {
      loop = try EventLoop()
      var address = address
      if let viaRelay, let server = address.split(separator: "=").last.map(String.init) {
        relay = try DelayRelay(to: server, in: viaRelay.directory, delay: viaRelay.delay, loop: loop)
        address = address.replacing(server, with: viaRelay.directory)
      }
      place = try PostgresURL.ofSharedStore(address)
      for _ in 0..<connections {
        let worker = Worker(PostgresConnection(to: place, loop: loop))
        worker.connection.handler = self
        workers.append(worker)
      }
      try runIteration { ready == connections }
      var prepared: Result<Int64, SchemaMigration.Failure>?
      SchemaMigration.begin(on: workers[0].connection) { prepared = $0 }
      try runIteration { prepared != nil }
      if case .failure(.failed(let error)) = prepared { throw error }
      try ask(workers[0], SchemaMigration.partition(for: 1))
      for (number, worker) in workers.enumerated() {
        worker.branch = try ask(worker, PostgresBranch.join("branch-\(number)", lease: Self.lease)).branch
      }
    }

    deinit { for worker in workers { worker.connection.close() } }

    func connected(_ connection: PostgresConnection, to server: PostgresServer) { ready += 1 }
    /// Stores the error of a lost connection, which ends the measurement.
    func lost(_ connection: PostgresConnection, _ error: PostgresError) { failure = error }
    /// Does nothing, because no channel is used.
    func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

    /// Runs the loop, and the relay if there is one, until a condition holds.
    private func runIteration(until condition: () throws -> Bool) throws {
      while try !condition() {
        let deadlines = workers.map(\.connection.nextDeadline).reduce(nil, MonotonicTime.earlier)
        try loop.runOnce(until: MonotonicTime.earlier(deadlines, relay?.nextDeadline))
        relay?.finishIteration()
        for worker in workers { worker.connection.finishIteration() }
        if let failure { throw failure }
      }
    }

    /// Sends a request of a branch, and waits for its answer.
    @discardableResult
    private func ask<Answer>(_ worker: Worker, _ request: PostgresRequest<Answer>) throws -> Answer {
      var told: PostgresAnswer<Answer>?
      try worker.connection.send(request) { told = $0 }
      try runIteration { told != nil }
      switch told {
      case .done(let answer): return answer
      case .refused(let error), .unknown(let error): throw error
      case nil: throw BenchFailure("there was no response")
      }
    }

    /// Issues tickets, `batch` in a transaction, on all connections in turn. Returns the duration in seconds.
    func enqueue(_ count: Int, inBatchesOf batch: Int) throws -> Double {
      let begin = SystemClock.monotonic()
      var given = 0
      var asked = 0
      while asked < count {
        for worker in workers where asked < count {
          guard let branch = worker.branch else { continue }
          try runIteration { worker.connection.inFlightCount < 4 }
          var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: 1_790_000_000_000))
          for number in 0..<min(batch, count - asked) {
            customers.add(
              CustomerOrder(
                service: .deposit, priority: .regular, amount: 50_000, account: Int64(number % 1_000)))
          }
          asked += customers.orders.count
          worker.commits += 1
          let request = branch.issueTickets(customers, lanes: Self.lanes, number: worker.commits)
          try worker.connection.send(request) { [weak self] answer in
            switch answer {
            case .done(let tickets): given += Int(tickets?.count ?? 0)
            case .refused(let error), .unknown(let error): self?.failure = error
            }
          }
        }
      }
      try runIteration { given == count }
      return SystemClock.monotonic().since(begin).inSeconds
    }

    /// Serves all waiting customers, in pages of this size, with `pipelineDepth` pages in flight on each connection.
    /// Returns the duration in seconds.
    func serve(_ count: Int, pages: Int, pipelineDepth: Int) throws -> Double {
      var served = 0
      let begin = SystemClock.monotonic()
      for worker in workers {
        worker.hasEverything = false
        for _ in 0..<pipelineDepth { try claim(worker, pages) { served += $0 } }
      }
      try runIteration { served == count }
      let seconds = SystemClock.monotonic().since(begin).inSeconds
      try runIteration { workers.allSatisfy { $0.claims == 0 && $0.connection.inFlightCount == 0 } }
      return seconds
    }

    /// Claims up to `page` customers, completes them when they arrive, and claims the next page. `count` receives the
    /// number of receipts.
    private func claim(_ worker: Worker, _ page: Int, _ count: @escaping (Int) -> Void) throws {
      guard let branch = worker.branch, !worker.hasEverything else { return }
      worker.claims += 1
      worker.lastClaim += 1
      let number = worker.lastClaim
      try worker.connection.send(branch.claimPage(lane: Self.lane, atMost: page, number: number)) {
        [weak self, weak worker] answer in
        guard let self, let worker else { return }
        switch answer {
        case .done(let customers?): self.receive(customers, to: worker, page, count)
        // A long page is fetched after the claim, when the lane is unlocked.
        case .done(nil): self.attempt { try self.fetch(number, worker, page, count) }
        case .refused(let error), .unknown(let error): self.failure = error
        }
      }
    }

    /// Reads the customers of a long page that was claimed.
    private func fetch(
      _ number: Int64, _ worker: Worker, _ page: Int, _ count: @escaping (Int) -> Void
    ) throws {
      guard let branch = worker.branch else { return }
      try worker.connection.send(branch.claimed(number)) { [weak self, weak worker] answer in
        guard let self, let worker else { return }
        switch answer {
        case .done(let customers): self.receive(customers ?? [], to: worker, page, count)
        case .refused(let error), .unknown(let error): self.failure = error
        }
      }
    }

    /// Completes the customers of a page, and claims the next one. An empty page ends the claims.
    private func receive(
      _ customers: [ClaimedCustomer], to worker: Worker, _ page: Int, _ count: @escaping (Int) -> Void
    ) {
      worker.claims -= 1
      guard !customers.isEmpty else { return worker.hasEverything = true }
      attempt { try complete(worker, customers, count) }
      attempt { try claim(worker, page, count) }
    }

    private func complete(
      _ worker: Worker, _ customers: [ClaimedCustomer], _ count: @escaping (Int) -> Void
    ) throws {
      guard let branch = worker.branch else { return }
      var completion = PostgresCompletion()
      for customer in customers {
        completion.add(
          position: customer.position, outcome: 1, place: 1, generation: 1, pid: 4242, attempts: 1,
          transfer: (-1, customer.account), started: customer.issuedMilliseconds,
          finished: customer.issuedMilliseconds)
      }
      worker.commits += 1
      let request = branch.complete(completion, number: worker.commits)
      try worker.connection.send(request) { [weak self] answer in
        switch answer {
        case .done(let tickets): count(tickets.count)
        case .refused(let error), .unknown(let error): self?.failure = error
        }
      }
    }

    /// Calls the closure. An error of the server ends the measurement.
    private func attempt(_ body: () throws -> Void) {
      do { try body() } catch { failure = failure ?? (error as? PostgresError) }
    }
  }
#endif
