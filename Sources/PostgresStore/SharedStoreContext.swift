// State that the parts of the shared store have in common: epoch, day, numbers of services and lanes, and events not
// taken yet.
// Invariant: while `branch` is nil, the store owns no customers, and no part changes customers.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedStoreContext {
  /// The branch in its present epoch; nil while it has none.
  var branch: PostgresBranch?
  /// The branch in its last epoch.
  var lastBranch: PostgresBranch?
  /// The present day, as last reported.
  var day: BusinessDay = 1
  var services = ServiceDirectory()
  /// Numbers of the transactions in the present epoch.
  var numbers = CommitNumbers()
  var clock = ServerClockOffset()
  /// Called when the branch was fenced.
  var fenced: () -> Void = {}
  /// Called to request a poll.
  var lookSoon: () -> Void = {}
  /// Known identity of the database and its server; nil if none is known yet.
  var known: SharedStoreProgress?
  /// Server that last confirmed the pages of the branch.
  var server: ServerIdentity?
  /// True after a failover until the new server has confirmed the pages of the branch. While it is true, no transaction
  /// is sent and no page is claimed.
  var isInDoubt = false
  /// Lanes in which this branch claims, and to which it adds customers.
  private(set) var lanes: [Line: Int64] = [:]
  /// All lanes: the line, and the only branch that serves it, or 0.
  private var lines: [Int64: (line: Line, branch: Int64)] = [:]
  private let url: String

  init(_ url: PostgresURL) { self.url = url.description }

  // MARK: - Events

  private var events: [PostgresStoreEvent] = []
  /// Number of events that were taken from ``events``.
  private var taken = 0
  /// Lines with a pending `lineMayHaveCustomers` event.
  private var waiting: Set<Line> = []

  var hasEvents: Bool { taken < events.count }

  /// Last refusal of a write by a database that accepts no writes; nil if none since the last renewal or join.
  private(set) var writeRefusal: PostgresError?
  /// Called to refuse new requests while the database accepts no writes.
  var onWriteRefusal: (PostgresError) -> Void = { _ in }

  /// Records that the database accepts no writes, if the error says so. Reports it once, until a write succeeds.
  func refusesWrites(_ error: PostgresError) {
    guard error.takesNoChanges else { return }
    let isNew = writeRefusal == nil
    writeRefusal = error
    if isNew { report(.interrupted(error)) }
    onWriteRefusal(error)
  }

  /// Records that a write has succeeded, so the database accepts writes.
  func acceptsWrites() { writeRefusal = nil }

  /// Adds an event for ``takeEvent()``. A line with a pending `lineMayHaveCustomers` gets no second one.
  func report(_ event: PostgresStoreEvent) {
    if case .lineMayHaveCustomers(let line) = event, !waiting.insert(line).inserted { return }
    events.append(event)
  }

  /// The oldest event that was not taken yet; nil for none.
  func takeEvent() -> PostgresStoreEvent? {
    guard taken < events.count else { return nil }
    let event = events[taken]
    taken += 1
    if taken == events.count {
      events.removeAll(keepingCapacity: true)
      taken = 0
    }
    if case .lineMayHaveCustomers(let line) = event { waiting.remove(line) }
    return event
  }

  // MARK: - Lanes

  /// Adds the lanes of the database, for the branch with this number.
  func adopt(lanes rows: PostgresRows, for own: Int64) {
    for row in 0..<rows.count {
      guard let number = rows.integer(row, 0), let service = rows.integer(row, 1),
        let priority = rows.integer(row, 2).flatMap({ Priority(code: $0) }),
        let branch = rows.integer(row, 3), let service = UInt16(exactly: service), service >= 1,
        lines[number] == nil
      else { continue }
      let line = Line(service: Service(number: service), priority: priority)
      lines[number] = (line, branch)
      if branch == Self.owner(of: line, own) || Mutant.claimsJuiceOfOtherBranch.isActive {
        lanes[line] = number
      }
    }
  }

  /// Forgets the lanes, because another server may have assigned other numbers.
  func clearLanes() { (lanes, lines) = ([:], [:]) }

  /// Owner of a line to which this branch adds customers: the branch itself if the line draws on its stock, else 0.
  static func owner(of line: Line, _ own: Int64) -> Int64 { line.service.usesStock ? own : 0 }

  /// Line of a lane, and the only branch that serves it, or 0.
  func line(_ lane: Int64) -> (line: Line, branch: Int64)? { lines[lane] }
  /// Line of a lane that this branch serves; nil for any other lane.
  func ownLine(_ lane: Int64) -> Line? {
    guard let line = lines[lane]?.line else { return nil }
    return lanes[line] == lane ? line : nil
  }

  /// Stores the names of the services, if all are valid.
  func adopt(services rows: PostgresRows) {
    let names = (0..<rows.count).compactMap { rows.text($0, 0).flatMap { ServiceName($0) } }
    guard names.count == rows.count, let directory = ServiceDirectory(names: names) else { return }
    services = directory
  }

  /// Services with the numbers in these rows; unknown numbers are skipped.
  func pausedServices(_ rows: PostgresRows) -> [Service] {
    (0..<rows.count).compactMap { row in
      services.services.first { Int64($0.number) == rows.integer(row, 0) }
    }
  }

  /// Customers of a claimed page, with their times by the branch's clock.
  func customers(_ page: [ClaimedCustomer], in line: Line) -> [CustomerWithPayload] {
    page.map { found in
      CustomerWithPayload(
        customer: Customer(
          ticket: found.ticket, service: line.service, priority: line.priority, amount: found.amount,
          account: found.account, issuedAt: issued(found, in: line),
          attempts: Int32(clamping: found.attempts), crashes: Int32(clamping: found.crashes),
          failures: Int32(clamping: found.failures), startedAttempts: Int16(clamping: found.startedAttempts),
          isAttemptRunning: found.isAttemptRunning, itemName: found.itemName),
        payload: found.payload)
    }
  }

  /// Issue time of a claimed customer, by the branch's clock. The stock identifies the order of a ticket by its issue
  /// time, so the issue time of a customer that uses the stock is not converted.
  private func issued(_ found: ClaimedCustomer, in line: Line) -> WallTime {
    line.service.usesStock
      ? WallTime(milliseconds: found.issuedMilliseconds) : clock.localTime(found.issuedMilliseconds)
  }

  // MARK: - Refusals

  /// Maps a refusal of the database to an error of the queue. A shortage of a server resource is temporary.
  func storeError(_ error: PostgresError) -> StoreError {
    if error.sqlState?.hasPrefix("53") == true || error.takesNoChanges {
      return .diskFull(detail: MessageDetail(quoting: "\(error)"))
    }
    return .failed(path: url, detail: MessageDetail(quoting: "\(error)"))
  }
}

extension PostgresError {
  /// True if the same transaction may be retried soon: after a conflict with another one, or while the server is
  /// shutting down or starting.
  var isTransient: Bool { ["40", "57P", "08"].contains { sqlState?.hasPrefix($0) == true } }
}
