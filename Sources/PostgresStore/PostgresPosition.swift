// Rows of the database: positions, claimed customers, finished customers with their receipts.
// Invariant: all columns of a completion except the sums have the same length, with one entry per customer, as the SQL
// statements require.
import BankModel
import Posix
import Postgres
import Time

/// Key of a customer's row: `state << 60 | lane << 40 | ticket`.
public enum PostgresPosition {
  /// Highest lane number that fits: 20 bits.
  public static let highestLane: Int64 = 1 << 20 - 1
  /// Highest ticket that fits: 40 bits.
  public static let highestTicket: Int64 = 1 << 40 - 1

  /// Row key (position) of a customer: state, lane and ticket in one number, each truncated to its bits.
  public static func of(state: Int64 = 1, lane: Int64, ticket: Int64) -> Int64 {
    (state & 7) << 60 | (lane & highestLane) << 40 | ticket & highestTicket
  }

  /// The ticket in a position, which is the row key of a customer.
  public static func ticket(_ position: Int64) -> Int64 { position & highestTicket }
  /// The lane in a position, which is the row key of a customer.
  public static func lane(_ position: Int64) -> Int64 { position >> 40 & highestLane }
}

/// A customer of a claimed page, as read from its row.
public struct ClaimedCustomer: Sendable, Hashable {
  /// See ``PostgresPosition``.
  public let position: Int64
  /// Amount in won.
  public let amount: Int64
  /// Number of the customer's account.
  public let account: Int64
  /// Issue time, in milliseconds since 1970.
  public let issuedMilliseconds: Int64
  /// Attempts that ended without a receipt.
  public let attempts: Int64
  /// Attempts since the last requeue that counted as crashes; see `Customer`.
  public let crashes: Int64
  /// Attempts since the last requeue that the worker reported as failed.
  public let failures: Int64
  /// Attempts since the last requeue that may have started, if the service counts them.
  public let startedAttempts: Int64
  /// True if the last of the started attempts was running.
  public let isAttemptRunning: Bool
  /// Ordered item; empty for none.
  public let itemName: String
  /// Payload; nil for none.
  public let payload: [UInt8]?

  /// Number of the ticket.
  public var ticket: Int64 { PostgresPosition.ticket(position) }

  /// Reads one customer of a page; nil if the row has an unexpected shape.
  init?(_ rows: PostgresRows, _ row: Int) {
    guard rows.columns == PostgresStatements.pageColumns, let position = rows.integer(row, 0),
      let amount = rows.integer(row, 1), let account = rows.integer(row, 2),
      let issued = rows.integer(row, 3), let attempts = rows.integer(row, 4),
      let crashes = rows.integer(row, 5), let failures = rows.integer(row, 6),
      let startedAttempts = rows.integer(row, 7), let isAttemptRunning = rows.boolean(row, 8)
    else { return nil }
    (self.position, self.amount, self.account) = (position, amount, account)
    (issuedMilliseconds, self.attempts, self.crashes) = (issued, attempts, crashes)
    (self.failures, self.startedAttempts, self.isAttemptRunning) = (
      failures, startedAttempts, isAttemptRunning
    )
    itemName = rows.text(row, 9) ?? ""
    payload = rows.bytes(row, 10)
  }
}

/// Finished customers with their receipts, as columns of the statement that finishes them in one commit.
public struct PostgresCompletion: Sendable, Hashable {
  /// Number of customers.
  public var count: Int { positions.count }
  private(set) var positions: [Int64] = []
  /// Columns of outcome, window, generation, pid, attempts, debit, credit, start and end.
  private var columns = [[Int64]](repeating: [], count: 9)
  /// Columns of results and shortages, by the index of the customer.
  private var optionalColumns: [Int: OptionalColumns] = [:]

  /// The result of the work, and the shortages.
  private struct OptionalColumns: Hashable {
    var result: WorkResult?
    var shortages: String?
  }

  public init() {}

  /// Adds a finished customer at this position, with the values of its receipt.
  ///
  /// - Parameters:
  ///   - outcome: raw value of `Outcome`.
  ///   - place: number of the window within its service; nil for none.
  ///   - transfer: codes of the accounts; nil if nothing was transferred.
  ///   - started: start of the last attempt, in milliseconds since 1970; nil if no attempt started. `finished` has
  ///     the same unit.
  ///   - result: stored result of the work; nil for none.
  public mutating func add(
    position: Int64, outcome: Int64, place: Int64?, generation: Int64, pid: Int64, attempts: Int64,
    transfer: (debit: Int64, credit: Int64)?, started: Int64?, finished: Int64, result: WorkResult? = nil,
    shortages: [Shortage] = []
  ) {
    if result != nil || !shortages.isEmpty {
      optionalColumns[positions.count] = OptionalColumns(
        result: result, shortages: PostgresShortages.text(of: shortages))
    }
    positions.append(position)
    columns[0].append(outcome)
    columns[1].append(place ?? -1)
    columns[2].append(generation)
    columns[3].append(pid)
    columns[4].append(attempts)
    columns[5].append(transfer?.debit ?? .min)
    columns[6].append(transfer?.credit ?? .min)
    columns[7].append(started ?? -1)
    columns[8].append(finished)
  }

  /// Adds the receipt of the customer at this position.
  mutating func add(_ receipt: Receipt, at position: Int64, clock: ServerClockOffset) {
    add(
      position: position, outcome: Int64(receipt.outcome.rawValue),
      place: receipt.window.map { Int64($0.place) },
      generation: Int64(receipt.generation), pid: Int64(receipt.pid), attempts: Int64(receipt.attempts),
      transfer: receipt.transfer.map { ($0.debit.code, $0.credit.code) },
      started: receipt.startedAt.map(clock.serverTime), finished: clock.serverTime(receipt.finishedAt),
      result: receipt.result, shortages: receipt.shortages)
  }

  /// Statement that finishes these customers.
  var statement: PostgresStatement {
    optionalColumns.isEmpty ? PostgresStatements.complete : PostgresStatements.completeWithResults
  }

  /// Parameters of ``statement`` after the numbers of the branch and the commit.
  var values: [PostgresValue] {
    [.integers(positions)] + columns.map { PostgresValue.integers($0) } + ends + sums
  }

  /// Columns of results and shortages; empty if no receipt has any.
  private var ends: [PostgresValue] {
    guard !optionalColumns.isEmpty else { return [] }
    let rest = positions.indices.map { optionalColumns[$0] ?? OptionalColumns() }
    /// The column of a number of every result; `Int64.min` if it is missing.
    func numbers(_ value: (WorkResult) -> Int64?) -> PostgresValue {
      .integers(rest.map { $0.result.flatMap(value) ?? .min })
    }
    /// The column of bytes of every result; nil without a result.
    func bytes(_ value: (WorkResult) -> [UInt8]) -> PostgresValue {
      .manyBytes(rest.map { $0.result.map(value) })
    }
    return [
      numbers { $0.duration.nanoseconds }, numbers { $0.ending?.exitCode.map(Int64.init) },
      numbers { $0.ending?.exitSignal.map(Int64.init) }, numbers { $0.output.length },
      numbers { $0.output.filed }, numbers { $0.errors.length }, numbers { $0.errors.filed },
      bytes { $0.output.first }, bytes { $0.output.last }, bytes { $0.errors.first },
      bytes { $0.errors.last },
      .texts(rest.map(\.shortages)),
    ]
  }

  /// Number of customers, the lanes, and the change of each lane's counts if this commit finishes all customers.
  private var sums: [PostgresValue] {
    var lanes: [Int64] = []
    var changes: [[Int64]] = Array(repeating: [], count: 5)
    var place = 0
    let isOfOneLane = Mutant.addsCountsToOneLane.isActive
    for (position, outcome) in zip(positions, columns[0]) {
      let state = Int(position >> 60)
      // The number -1 makes the server examine each row, which is necessary for a cancelled customer or an invalid
      // state.
      guard 1...3 ~= state, outcome == Self.served || outcome == Self.outOfStock else {
        return [.integer(-1)] + Array(repeating: .integers([]), count: 6)
      }
      let lane = PostgresPosition.lane(isOfOneLane ? positions[0] : position)
      if !lanes.indices.contains(place) || lanes[place] != lane {
        place = lanes.firstIndex(of: lane) ?? lanes.count
        if place == lanes.count {
          lanes.append(lane)
          for column in changes.indices { changes[column].append(0) }
        }
      }
      changes[state - 1][place] -= 1
      changes[outcome == Self.served ? 3 : 4][place] += 1
    }
    return [.integer(Int64(count)), .integers(lanes)] + changes.map { .integers($0) }
  }

  private static let served = Int64(Outcome.served.rawValue)
  private static let outOfStock = Int64(Outcome.outOfStock.rawValue)
}

/// Text form of a receipt's shortages: `ITEM:NEEDED:AVAILABLE`, separated by commas.
public enum PostgresShortages {
  /// The text form of these shortages; nil for none.
  public static func text(of shortages: [Shortage]) -> String? {
    shortages.isEmpty
      ? nil : shortages.map { "\($0.item.name):\($0.needed):\($0.available)" }.joined(separator: ",")
  }

  /// Parses the text; skips invalid parts.
  public static func read(_ text: String?) -> [Shortage] {
    (text ?? "").split(separator: ",").compactMap { part in
      let words = part.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count >= 3, let needed = Quantity(words[words.count - 2]),
        let available = Quantity(words[words.count - 1])
      else { return nil }
      let name = words.dropLast(2).joined(separator: ":")
      return Shortage(item: ItemID(name), needed: needed, available: available)
    }
  }
}
