// The database of one measurement on the scratch server, and a connection for the statements of the measurement itself.
// Errors: BenchFailure with the statement and the message of the server.
#if HAS_POSTGRES
  import Posix
  import Postgres
  import Time

  final class ScratchDatabase: PostgresHandler {
    /// The address of the database for the measured program.
    let address: String
    private let loop: EventLoop
    private let connection: PostgresConnection
    private var isReady = false
    private var failure: PostgresError?

    /// Creates the database. The server's address ends in `@/bank?host=DIRECTORY`.
    convenience init(_ server: String, _ name: String) throws {
      let first = try ScratchDatabase(at: server)
      _ = try first.rows("DROP DATABASE IF EXISTS \(name)")
      _ = try first.rows("CREATE DATABASE \(name)")
      try self.init(at: server.replacing("@/bank?", with: "@/\(name)?"))
    }

    /// Connects to an existing database.
    init(at address: String) throws {
      self.address = address
      loop = try EventLoop()
      connection = PostgresConnection(to: try PostgresURL(address), loop: loop)
      connection.handler = self
      try runIteration { isReady }
    }

    deinit { connection.close() }

    func connected(_ connection: PostgresConnection, to server: PostgresServer) { isReady = true }
    /// Stores the error of a lost connection, which ends the measurement.
    func lost(_ connection: PostgresConnection, _ error: PostgresError) { failure = error }
    /// Does nothing, because no channel is used.
    func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

    /// Runs a statement. Returns its rows.
    @discardableResult
    func rows(_ text: String) throws -> PostgresRows {
      try ask([.once(text)], text)[0]
    }

    /// The integer result of a query.
    func integer(_ text: String) throws -> Int64 {
      guard let number = try rows(text).integer(0, 0) else {
        throw BenchFailure("\(text): there was no number")
      }
      return number
    }

    /// Starts a transaction and leaves it open. The server must keep every row that is deleted afterwards, because
    /// the transaction's snapshot contains it.
    func pinSnapshot() throws {
      let words = "BEGIN ISOLATION LEVEL REPEATABLE READ"
      _ = try ask([.once(words), .once("SELECT count(*) FROM bank.day")], words)
    }

    /// Ends the open transaction.
    func releaseSnapshot() throws { try rows("COMMIT") }

    /// Sends statements as one request, and waits for their rows. `words` is their text for an error.
    private func ask(_ segment: [PostgresCall], _ words: String) throws -> [PostgresRows] {
      var told: PostgresOutcome?
      try connection.send(segment) { told = $0 }
      try runIteration { told != nil }
      switch told {
      case .done(let rows): return rows
      case .refused(let error), .unknown(let error):
        throw BenchFailure("\(words): \(error.message(in: .english))")
      case nil: throw BenchFailure("\(words): there was no response")
      }
    }

    /// Runs the loop until a condition holds or the connection is lost.
    private func runIteration(until condition: () -> Bool) throws {
      while !condition() {
        try loop.runOnce(until: connection.nextDeadline)
        connection.finishIteration()
        if let failure { throw BenchFailure(failure.message(in: .english)) }
      }
    }
  }
#endif
