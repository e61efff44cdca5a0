// Owns the rows that go into the books and come out of them: who asks for tickets, who was claimed, who is done.
// Invariant: columns side by side, one entry for each customer in all of them, as the statements take them.
import BankModel
import Posix
import Postgres
import Time

/// The key of a customer's row, as in SQLite's books: `state << 60 | lane << 40 | ticket`.
public enum PostgresPosition {
  /// The highest lane.
  public static let highestLane: Int64 = 1 << 20 - 1
  /// The highest ticket.
  public static let highestTicket: Int64 = 1 << 40 - 1

  /// The position of a ticket, each part cut to what fits.
  public static func of(state: Int64 = 1, lane: Int64, ticket: Int64) -> Int64 {
    (state & 7) << 60 | (lane & highestLane) << 40 | ticket & highestTicket
  }

  /// The ticket in a position.
  public static func ticket(_ position: Int64) -> Int64 { position & highestTicket }
  /// The lane in a position.
  public static func lane(_ position: Int64) -> Int64 { position >> 40 & highestLane }
}

/// A customer in a claimed page.
public struct ClaimedCustomer: Sendable, Hashable {
  /// See ``PostgresPosition``.
  public let position: Int64
  /// In won.
  public let amount: Int64
  /// The customer's account.
  public let account: Int64
  /// When the ticket was issued, in milliseconds since 1970.
  public let issuedMilliseconds: Int64
  /// Attempts that have ended without a receipt.
  public let attempts: Int64
  /// Of those since the last requeue: in which the teller died.
  public let crashes: Int64
  /// And which the teller reported.
  public let failures: Int64
  /// Attempts since the last requeue that may have begun, where the service counts them.
  public let begun: Int64
  /// Whether the last of them was under way.
  public let isBegun: Bool
  /// What was ordered; empty for nothing.
  public let article: String
  /// What the customer carries; nil for nothing.
  public let payload: [UInt8]?

  /// The number on the ticket.
  public var ticket: Int64 { PostgresPosition.ticket(position) }

  init?(_ rows: PostgresRows, _ row: Int) {
    guard rows.columns == PostgresStatements.pageColumns, let position = rows.integer(row, 0),
      let amount = rows.integer(row, 1), let account = rows.integer(row, 2),
      let issued = rows.integer(row, 3), let attempts = rows.integer(row, 4),
      let crashes = rows.integer(row, 5), let failures = rows.integer(row, 6),
      let begun = rows.integer(row, 7), let isBegun = rows.boolean(row, 8)
    else { return nil }
    (self.position, self.amount, self.account) = (position, amount, account)
    (issuedMilliseconds, self.attempts, self.crashes) = (issued, attempts, crashes)
    (self.failures, self.begun, self.isBegun) = (failures, begun, isBegun)
    article = rows.text(row, 9) ?? ""
    payload = rows.bytes(row, 10)
  }
}

/// Customers who are done, and their receipts.
public struct PostgresCompletion: Sendable, Hashable {
  /// How many there are.
  public var count: Int { positions.count }
  private(set) var positions: [Int64] = []
  private var columns = [[Int64]](repeating: [], count: 9)
  /// Of whom there is more to be written, by the place among all.
  private var more: [Int: More] = [:]

  /// What stands in few receipts.
  private struct More: Hashable {
    var result: WorkResult?
    var shortages: String?
  }

  public init() {}

  /// Adds a customer.
  ///
  /// - Parameters:
  ///   - outcome: as the domain numbers it.
  ///   - place: the window's; nil for none.
  ///   - transfer: the codes of the accounts; nil where nothing was moved.
  ///   - started: in milliseconds since 1970; nil where no attempt was begun. The same for `finished`.
  ///   - result: what the work has left behind; nil for nothing.
  public mutating func add(
    position: Int64, outcome: Int64, place: Int64?, generation: Int64, pid: Int64, attempts: Int64,
    transfer: (debit: Int64, credit: Int64)?, started: Int64?, finished: Int64, result: WorkResult? = nil,
    shortages: [Shortage] = []
  ) {
    if result != nil || !shortages.isEmpty {
      more[positions.count] = More(result: result, shortages: PostgresShortages.text(of: shortages))
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

  /// Adds a receipt of a customer who stands at this position.
  mutating func add(_ receipt: Receipt, at position: Int64, clock: SharedClock) {
    add(
      position: position, outcome: Int64(receipt.outcome.rawValue),
      place: receipt.window.map { Int64($0.place) },
      generation: Int64(receipt.generation), pid: Int64(receipt.pid), attempts: Int64(receipt.attempts),
      transfer: receipt.transfer.map { ($0.debit.code, $0.credit.code) },
      started: receipt.startedAt.map(clock.theirs), finished: clock.theirs(receipt.finishedAt),
      result: receipt.result, shortages: receipt.shortages)
  }

  var statement: PostgresStatement {
    more.isEmpty ? PostgresStatements.complete : PostgresStatements.completeWithResults
  }

  var values: [PostgresValue] {
    [.integers(positions)] + columns.map { PostgresValue.integers($0) } + ends + sums
  }

  /// Results and shortages, where there are any.
  private var ends: [PostgresValue] {
    guard !more.isEmpty else { return [] }
    let rest = positions.indices.map { more[$0] ?? More() }
    func numbers(_ value: (WorkResult) -> Int64?) -> PostgresValue {
      .integers(rest.map { $0.result.flatMap(value) ?? .min })
    }
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

  /// How many there are, and by how much each lane's numbers change when all of them are ended by this.
  private var sums: [PostgresValue] {
    var lanes: [Int64] = []
    var changes: [[Int64]] = Array(repeating: [], count: 5)
    var place = 0
    let isOfOneLane = Kernel.makes("addsUpInOneLane")
    for (position, outcome) in zip(positions, columns[0]) {
      let state = Int(position >> 60)
      // Who was cancelled, or stands where nobody can, is for the database to look at.
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

/// How the shortages of a receipt are written: `ITEM:NEEDED:AVAILABLE`, with commas between them.
public enum PostgresShortages {
  /// The text; nil for none.
  public static func text(of shortages: [Shortage]) -> String? {
    shortages.isEmpty
      ? nil : shortages.map { "\($0.item.name):\($0.needed):\($0.available)" }.joined(separator: ",")
  }

  /// What the text says; what cannot be read is left out.
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
