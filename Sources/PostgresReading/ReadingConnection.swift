// Owns a connection that may be waited for: it turns a loop of its own until an answer is there, and connects anew where the
// connection was lost. The server is told that the session is for reading alone, but where books are moved there by it.
// Invariant: a snapshot, and a transaction that writes, is on one connection, so an answer from within it is never asked for
// again on another.
// Failure: StoreError.failed, in the words of PostgresError.
import BankModel
import Posix
import Postgres
import PostgresStore
import QueueCore
import Time

package final class ReadingConnection: PostgresHandler {
  /// What may be shown of the address.
  package let name: String
  private let place: PostgresPlace
  /// In which is told what goes wrong.
  private let language: Language
  private let loop: EventLoop
  private let limits: PostgresConnection.Limits
  private var connection: PostgresConnection?
  private var isConnected = false
  private var loss: PostgresError?
  /// With which host the next attempt begins.
  private var host = 0
  private var isInSnapshot = false
  /// What is known of the books from elsewhere, and what was seen of them here.
  private let known: () -> BooksMark?
  private var seen: BooksMark?

  /// - Parameters:
  ///   - patience: how long the server may take for one answer.
  ///   - moves: whether books are moved there.
  ///   - known: returns what is known of the books at that moment; nil for nothing.
  /// - Throws: an address that is none.
  package init(
    _ address: String, patience: TimeSpan, moves: Bool = false, in language: Language = .english,
    knowing known: @escaping () -> BooksMark? = { nil }
  ) throws(StoreError) {
    (self.language, self.known) = (language, known)
    do throws(PostgresError) {
      place = try PostgresPlace(
        address, application: moves ? "bank-move" : "bank-reader",
        wishes: ["enable_seqscan=off", "enable_bitmapscan=off"], readsAlone: !moves)
    } catch { throw StoreError(error, at: "postgres://", in: language) }
    do throws(SystemError) { loop = try EventLoop() } catch {
      throw .failed(path: place.description, detail: Remark(quoting: error.description))
    }
    name = place.description
    var limits = PostgresConnection.Limits()
    limits.patience = patience
    self.limits = limits
  }

  // MARK: - Asking

  /// Sends a segment and waits for the rows of each of its calls. Where the connection is lost it is asked once more on
  /// another: a question changes nothing.
  package func ask(_ segment: PostgresCall...) throws(StoreError) -> [PostgresRows] { try ask(all: segment) }

  /// The same, with the calls in an array.
  package func ask(all segment: [PostgresCall]) throws(StoreError) -> [PostgresRows] {
    do throws(PostgresError) { return try answer(to: segment) } catch {
      guard !isInSnapshot, error.isOfConnection else { throw failure(error) }
    }
    do throws(PostgresError) { return try answer(to: segment) } catch { throw failure(error) }
  }

  /// Has everything that is asked within `body` answered from one snapshot, and nobody waits for it.
  func inSnapshot<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    // Whoever is about to commit what it looks at sees nothing else.
    if isInSnapshot { return try body() }
    _ = try ask(.once("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    isInSnapshot = true
    defer {
      isInSnapshot = false
      // Where even this fails the server ends the snapshot with the connection.
      if (try? answer(to: [.once("ROLLBACK")])) == nil { close() }
    }
    return try body()
  }

  /// Writes within one transaction, and nobody sees anything of it before it has ended well.
  ///
  /// - Throws: what `body` throws, and then nothing has changed. Where it is the commit that fails, `isCommitting` was called
  ///   before, and whether something has changed is to be found out.
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

  /// Makes the books where there are none, and brings those of an older program to the present version.
  package func prepareBooks() throws(StoreError) {
    var told: Result<Int64, PostgresPreparation.Failure>?
    do throws(PostgresError) {
      PostgresPreparation.begin(on: try ready()) { told = $0 }
      try turn { told != nil }
    } catch { throw failure(error) }
    switch told {
    case .success: return
    case .failure(.newer(let version, let known)):
      throw .newerSchema(path: name, found: version, known: known)
    case .failure(.inUse(let version)):
      throw .failed(
        path: name, detail: Remark(.olderBranchOpen, version))
    case .failure(.foreign): throw .damaged(path: name, detail: Remark(.foreignSchema))
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
    var told: PostgresOutcome?
    try connection.send(segment) { told = $0 }
    try turn { told != nil }
    switch told {
    case .done(let rows): return rows
    case .refused(let error), .unknown(let error): throw error
    case nil: throw loss ?? PostgresError(.closed, at: name)
    }
  }

  // MARK: - The connection

  private func ready() throws(PostgresError) -> PostgresConnection {
    if let connection, connection.isReady { return connection }
    guard !isInSnapshot else { throw loss ?? PostgresError(.closed, at: name) }
    // Each host that is named is tried once: one that is silent takes up the whole time of an attempt. Of several that take
    // changes the one with the highest timeline has the books.
    var best: (host: Int, sight: BooksSight)?
    var trouble: PostgresError?
    for host in host..<(host + place.hostCount) {
      do throws(PostgresError) {
        let (connection, sight) = try connect(to: host)
        let mark = mark
        switch BooksMark.judge(sight, knowing: mark, isFirst: true, hasSisters: false) {
        case .refuse(let reason): throw PostgresError(reason, at: name)
        case .open where mark != nil || place.hostCount == 1: return use(connection, at: host, sight)
        default: break
        }
        if best.map({ $0.sight.timeline < sight.timeline }) ?? true { best = (host, sight) }
      } catch {
        if trouble == nil || trouble?.reason == .standby { trouble = error }
      }
    }
    guard let best else { throw trouble ?? PostgresError(.closed, at: name) }
    if best.host == host + place.hostCount - 1, let connection, connection.isReady {
      return use(connection, at: best.host, best.sight)
    }
    let (connection, sight) = try connect(to: best.host)
    return use(connection, at: best.host, sight)
  }

  /// What is known of the books: the later of what is told and what was seen.
  private var mark: BooksMark? {
    guard let told = known() else { return seen }
    guard let seen, seen.books == told.books, seen.system == told.system else { return told }
    return seen.timeline > told.timeline ? seen : told
  }

  private func use(_ connection: PostgresConnection, at host: Int, _ sight: BooksSight) -> PostgresConnection
  {
    self.host = host % place.hostCount
    if let books = sight.books {
      seen = BooksMark(books: books, system: sight.system, timeline: sight.timeline)
    }
    return connection
  }

  private func connect(to host: Int) throws(PostgresError) -> (PostgresConnection, BooksSight) {
    close()
    let connection = PostgresConnection(to: place.alone(atHost: host), loop: loop, limits: limits)
    connection.handler = self
    self.connection = connection
    try turn { isConnected }
    guard isConnected else { throw loss ?? PostgresError(.closed, at: name) }
    let (beginning, number) = (PostgresBeginning.request, PostgresBeginning.number)
    guard let found = beginning.read(try answer(to: beginning.segment, on: connection)) else {
      throw PostgresError(.strange("its answer to the first question"), at: name)
    }
    var sight = found.sight
    if found.hasBooks { sight.books = number.read(try answer(to: number.segment, on: connection)) }
    return (connection, sight)
  }

  /// Turns the loop until something has come to be, or the connection is lost. Each connection has its deadlines.
  private func turn(until isDone: () -> Bool) throws(PostgresError) {
    while !isDone(), loss == nil {
      do throws(SystemError) { try loop.runOnce(until: connection?.nextDeadline) } catch {
        throw PostgresError(.lost(error.description), at: name)
      }
      connection?.endTurn()
    }
  }

  private func close() {
    connection?.close()
    (connection, isConnected, loss) = (nil, false, nil)
  }

  package func connected(_ connection: PostgresConnection, to server: PostgresServer) { isConnected = true }
  package func lost(_ connection: PostgresConnection, _ error: PostgresError) { loss = error }
  package func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

  private func failure(_ error: PostgresError) -> StoreError { StoreError(error, at: name, in: language) }
}

extension PostgresError {
  /// Whether another connection may have an answer.
  fileprivate var isOfConnection: Bool {
    switch reason {
    case .lost, .closed: true
    default: false
    }
  }
}

extension StoreError {
  init(_ error: PostgresError, at name: String, in language: Language) {
    self = .failed(path: name, detail: Remark(quoting: error.message(in: language)))
  }
}
