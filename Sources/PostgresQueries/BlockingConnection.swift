// Connection with blocking queries: it runs an event loop of its own until the answer arrives, and reconnects after a
// loss.
// Invariant: a snapshot or a writing transaction uses one connection, so a query within it is not repeated on
// another connection.
// Errors: StoreError.failed, with the message of PostgresError or SystemError; also newerSchema and damaged from
// `prepareSchema()`.
import BankModel
import Posix
import Postgres
import PostgresStore
import QueueCore
import Time

/// A connection whose queries wait for their results.
package final class BlockingConnection: PostgresHandler {
  /// The address as it may be displayed.
  package let name: String
  private let url: PostgresURL
  /// Language of error messages.
  private let language: Language
  private let loop: EventLoop
  private let limits: PostgresConnection.Limits
  private var connection: PostgresConnection?
  private var isConnected = false
  /// Error with which the connection has ended; nil while it is usable.
  private var loss: PostgresError?
  /// Index of the host to which the next connection is tried first.
  private var host = 0
  /// True within a snapshot or a writing transaction.
  private var isInSnapshot = false
  /// Identity of the database: `known` returns the one that the caller remembers, and `seen` is that of the connection
  /// used last.
  private let known: () -> SharedStoreProgress?
  private var seen: SharedStoreProgress?

  /// Parses the address. The first query connects.
  ///
  /// - Parameters:
  ///   - timeout: timeout for one answer of the server.
  ///   - isWritable: true if the session writes, for a move.
  ///   - known: returns the remembered identity of the database; nil for none.
  /// - Throws: `failed` if the address is invalid or no event loop can be created.
  package init(
    _ address: String, timeout: TimeSpan, isWritable: Bool = false, in language: Language = .english,
    knowing known: @escaping () -> SharedStoreProgress? = { nil }
  ) throws(StoreError) {
    (self.language, self.known) = (language, known)
    do throws(PostgresError) {
      url = try PostgresURL(
        address, application: isWritable ? "bank-move" : "bank-reader",
        sessionDefaults: ["enable_seqscan=off", "enable_bitmapscan=off"], readOnly: !isWritable)
    } catch { throw StoreError(error, at: "postgres://", in: language) }
    do throws(SystemError) { loop = try EventLoop() } catch {
      throw .failed(path: url.description, detail: MessageDetail(quoting: error.description))
    }
    name = url.description
    var limits = PostgresConnection.Limits()
    limits.timeout = timeout
    self.limits = limits
  }

  // MARK: - Queries

  /// Sends a segment and waits for the rows of its calls. After a loss of the connection the segment is sent once more
  /// on another connection, so it must be safe to repeat. Within a snapshot or a transaction the loss is thrown.
  package func ask(_ segment: PostgresCall...) throws(StoreError) -> [PostgresRows] { try ask(all: segment) }

  /// Sends the calls of an array as a segment, and waits for the rows of each.
  package func ask(all segment: [PostgresCall]) throws(StoreError) -> [PostgresRows] {
    do throws(PostgresError) { return try answer(to: segment) } catch {
      guard !isInSnapshot, error.isOfConnection else { throw failure(error) }
    }
    do throws(PostgresError) { return try answer(to: segment) } catch { throw failure(error) }
  }

  /// Runs all queries within `body` in one snapshot.
  func inSnapshot<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    // An open transaction is used as it is. If it is the writing transaction of a move, its locks exclude other
    // writers.
    if isInSnapshot { return try body() }
    _ = try ask(.once("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    isInSnapshot = true
    defer {
      isInSnapshot = false
      // If the rollback fails, the server ends the snapshot when the connection is closed.
      if (try? answer(to: [.once("ROLLBACK")])) == nil { close() }
    }
    return try body()
  }

  /// Runs `body` in one writing transaction.
  ///
  /// - Parameter isCommitting: called directly before the commit.
  /// - Throws: errors of `body` and `isCommitting`, after which nothing was changed. If the commit fails,
  ///   `isCommitting` was called before, and the caller must determine the outcome.
  package func inTransaction<Result>(
    _ body: () throws -> Result, isCommitting: () throws -> Void
  ) throws -> Result {
    _ = try ask(.once("BEGIN"))
    isInSnapshot = true
    defer { isInSnapshot = false }
    do {
      let result = try body()
      try isCommitting()
      _ = try ask(.once("COMMIT"))
      return result
    } catch {
      close()
      throw error
    }
  }

  /// Creates the schema, or migrates it to the present version.
  package func prepareSchema() throws(StoreError) {
    var reply: Result<Int64, SchemaMigration.Failure>?
    do throws(PostgresError) {
      SchemaMigration.begin(on: try ready()) { reply = $0 }
      try runLoop { reply != nil }
    } catch { throw failure(error) }
    switch reply {
    case .success: return
    case .failure(.newer(let version, let known)):
      throw .newerSchema(path: name, found: version, known: known)
    case .failure(.inUse(let version)):
      throw .failed(
        path: name, detail: MessageDetail(.olderBranchOpen, version))
    case .failure(.foreign): throw .damaged(path: name, detail: MessageDetail(.foreignSchema))
    case .failure(.failed(let error)): throw failure(error)
    case nil: throw failure(loss ?? PostgresError(.closed, at: name))
    }
  }

  private func answer(to segment: [PostgresCall]) throws(PostgresError) -> [PostgresRows] {
    try answer(to: segment, on: try ready())
  }

  private func answer(
    to segment: [PostgresCall], on connection: PostgresConnection
  ) throws(PostgresError) -> [PostgresRows] {
    var reply: PostgresOutcome?
    try connection.send(segment) { reply = $0 }
    try runLoop { reply != nil }
    switch reply {
    case .done(let rows): return rows
    case .refused(let error), .unknown(let error): throw error
    case nil: throw loss ?? PostgresError(.closed, at: name)
    }
  }

  // MARK: - The connection

  /// The present connection if it is usable, else a new one to the best host.
  private func ready() throws(PostgresError) -> PostgresConnection {
    if let connection, connection.isReady { return connection }
    guard !isInSnapshot else { throw loss ?? PostgresError(.closed, at: name) }
    // The first host that matches the known identity is used, else the accepted host with the highest timeline.
    var best: (host: Int, sight: ServerIdentity)?
    var firstError: PostgresError?
    for host in host..<(host + url.hostCount) {
      do throws(PostgresError) {
        let (connection, identity) = try connect(to: host)
        let mark = mark
        switch SharedStoreProgress.decide(identity, knowing: mark, isFirst: true, hasOtherConnections: false)
        {
        case .refuse(let reason): throw PostgresError(reason, at: name)
        case .open where mark != nil || url.hostCount == 1: return use(connection, at: host, identity)
        default: break
        }
        if best.map({ $0.sight.timeline < identity.timeline }) ?? true { best = (host, identity) }
      } catch {
        if firstError == nil || firstError?.reason == .standby { firstError = error }
      }
    }
    guard let best else { throw firstError ?? PostgresError(.closed, at: name) }
    if best.host == host + url.hostCount - 1, let connection, connection.isReady {
      return use(connection, at: best.host, best.sight)
    }
    let (connection, identity) = try connect(to: best.host)
    return use(connection, at: best.host, identity)
  }

  /// Known identity of the database. The remembered one takes precedence, unless the seen one is of the same cluster
  /// and bank and has a higher timeline.
  private var mark: SharedStoreProgress? {
    guard let reply = known() else { return seen }
    guard let seen, seen.bankID == reply.bankID, seen.system == reply.system else { return reply }
    return seen.timeline > reply.timeline ? seen : reply
  }

  /// Remembers the host and the identity of a connection, and returns the connection.
  private func use(_ connection: PostgresConnection, at host: Int, _ identity: ServerIdentity)
    -> PostgresConnection
  {
    self.host = host % url.hostCount
    if let bankID = identity.bankID {
      seen = SharedStoreProgress(bankID: bankID, system: identity.system, timeline: identity.timeline)
    }
    return connection
  }

  /// Connects to one host, and determines its identity. Closes the earlier connection.
  private func connect(to host: Int) throws(PostgresError) -> (PostgresConnection, ServerIdentity) {
    close()
    let connection = PostgresConnection(to: url.alone(atHost: host), loop: loop, limits: limits)
    connection.handler = self
    self.connection = connection
    try runLoop { isConnected }
    guard isConnected else { throw loss ?? PostgresError(.closed, at: name) }
    let (beginning, number) = (ServerProbe.request, ServerProbe.number)
    guard let found = beginning.read(try answer(to: beginning.segment, on: connection)) else {
      throw PostgresError(.unexpectedReply("its response to the first query"), at: name)
    }
    var identity = found.identity
    if found.hasBankSchema { identity.bankID = number.read(try answer(to: number.segment, on: connection)) }
    return (connection, identity)
  }

  /// Runs the loop until the condition is true or the connection is lost, also by a timeout of the connection.
  private func runLoop(until isDone: () -> Bool) throws(PostgresError) {
    while !isDone(), loss == nil {
      do throws(SystemError) { try loop.runOnce(until: connection?.nextDeadline) } catch {
        throw PostgresError(.lost(error.description), at: name)
      }
      connection?.finishIteration()
    }
  }

  /// Closes the present connection; the next query uses a new one.
  private func close() {
    connection?.close()
    (connection, isConnected, loss) = (nil, false, nil)
  }

  /// Records that the connection is ready.
  package func connected(_ connection: PostgresConnection, to server: PostgresServer) { isConnected = true }
  /// Records why the connection was lost, which ends the wait for an answer.
  package func lost(_ connection: PostgresConnection, _ error: PostgresError) { loss = error }
  /// Does nothing: this connection receives no notifications.
  package func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

  private func failure(_ error: PostgresError) -> StoreError { StoreError(error, at: name, in: language) }
}

extension PostgresError {
  /// True if the connection has ended, so that the same query may succeed on another one.
  fileprivate var isOfConnection: Bool {
    switch reason {
    case .lost, .closed: true
    default: false
    }
  }
}

extension StoreError {
  /// The error of the store for an error of the client.
  init(_ error: PostgresError, at name: String, in language: Language) {
    self = .failed(path: name, detail: MessageDetail(quoting: error.message(in: language)))
  }
}
