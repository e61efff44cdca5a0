// Customers of one request for tickets, as columns of the SQL statement that issues them.
// Invariant: every column has one entry per customer. If the request has a key, its customers have no keys of their
// own.
import BankModel
import Postgres
import QueueCore
import Time

struct EnqueueColumns {
  /// Issue time of the tickets, by the clock of the database server after ``report(by:at:)``.
  private(set) var issuedAt: WallTime
  /// Idempotency key of the whole request; nil for none.
  let key: String?
  /// Digest of the request, by which a repeated request is recognised; nil for none.
  let digest: Int64?
  var count: Int { amounts.count }
  /// Lines of the customers, without duplicates.
  private(set) var lines: [Line] = []
  /// True if any customer has a key of its own.
  private(set) var hasOwnKeys = false
  /// Index in ``lines`` of each customer.
  private var lineIndexes: [Int32] = []
  private var amounts: [Int64] = []
  private var accounts: [Int64] = []
  /// Due times in milliseconds since 1970; 0 for none.
  private var dueTimes: [Int64] = []
  private var articles: [String?] = []
  private var payloads: [[UInt8]?] = []
  /// The customers' own keys; nil for none.
  private var keys: [String?] = []
  private var digests: [Int64] = []
  /// Index in ``lines`` of each line.
  private var indexOfLine: [Line: Int32] = [:]

  /// Makes the columns of a request. Traps if both the request and its customers have keys.
  init(_ request: EnqueueRequest) {
    (issuedAt, key, digest) = (request.issuedAt, request.key, request.digest)
    precondition(request.keyed.isEmpty || key == nil, "the request or its customers have keys")
    let count = request.orders.count
    lineIndexes.reserveCapacity(count)
    amounts.reserveCapacity(count)
    accounts.reserveCapacity(count)
    dueTimes.reserveCapacity(count)
    articles.reserveCapacity(count)
    for order in request.orders { add(order) }
    payloads = Array(repeating: nil, count: count)
    for (payload, lineIndexes) in request.payloads { for place in lineIndexes { payloads[place] = payload } }
    keys = Array(repeating: nil, count: count)
    digests = Array(repeating: Self.noDigest, count: count)
    for one in request.keyed {
      (keys[one.place], digests[one.place]) = (one.key, one.digest ?? Self.noDigest)
    }
    hasOwnKeys = !request.keyed.isEmpty
    for place in 0..<count { size += size(at: place) }
  }

  private mutating func add(_ order: CustomerOrder) {
    let line = Line(service: order.service, priority: order.priority)
    let place = indexOfLine[line] ?? Int32(lines.count)
    if place == lines.count {
      indexOfLine[line] = place
      lines.append(line)
    }
    lineIndexes.append(place)
    amounts.append(order.amount)
    accounts.append(order.account)
    // 0 means no due time; real due times are at least 1.
    dueTimes.append(order.dueAt.map { max(1, $0.milliseconds) } ?? 0)
    articles.append(order.itemName.isEmpty ? nil : order.itemName)
  }

  /// Converts all times to the clock of the database server. Call it on arrival, because the clock of the branch may be
  /// set later.
  mutating func report(by clock: ServerClockOffset, at now: Moment) {
    issuedAt = WallTime(milliseconds: clock.serverTime(issuedAt))
    for place in dueTimes.indices where dueTimes[place] > 0 {
      dueTimes[place] = max(1, clock.due(WallTime(milliseconds: dueTimes[place]), at: now))
    }
  }

  /// Approximate size of the message to the server, in bytes.
  private(set) var size = 0

  /// Approximate size of one customer in the message, in bytes.
  private func size(at place: Int) -> Int {
    76 + (articles[place]?.utf8.count ?? 0) + (payloads[place]?.count ?? 0) + (keys[place]?.utf8.count ?? 0)
  }

  /// Range of the customers in the slice that starts at `first`: at most `customers` and `bytes`, but at least one
  /// customer.
  func slice(from first: Int, bytes: Int, customers: Int) -> Range<Int> {
    var (end, sum) = (first, 0)
    while end < count, end - first < customers {
      sum += size(at: end)
      if sum > bytes, end > first { break }
      end += 1
    }
    return first..<end
  }

  /// The last parameters of ``PostgresStatements/storeSlice`` for one slice. The first of them is the number of
  /// customers in the preceding slices.
  func sliceParameters(_ slice: Range<Int>, lanes: [Line: Int64]) -> [PostgresValue] {
    var counts: [Int32: (waiting: Int64, delayed: Int64)] = [:]
    for place in slice {
      if dueTimes[place] == 0 {
        counts[lineIndexes[place], default: (0, 0)].waiting += 1
      } else {
        counts[lineIndexes[place], default: (0, 0)].delayed += 1
      }
    }
    let order = counts.sorted { $0.key < $1.key }
    return [
      .integer(Int64(slice.lowerBound)), .integers(order.map { lanes[lines[Int($0.key)]] ?? 0 }),
      .integers(order.map(\.value.waiting)), .integers(order.map(\.value.delayed)),
    ] + columns(slice, lanes: lanes) + [.texts(Array(keys[slice])), .integers(Array(digests[slice]))]
  }

  /// True if any customer has a due time.
  var hasDelayed: Bool { dueTimes.contains { $0 > 0 } }

  /// Marker for a missing digest.
  static let noDigest = Int64.min

  /// Columns of row keys (state and lane, without ticket), amounts, accounts, due times, item names and payloads.
  func columns(lanes: [Line: Int64]) -> [PostgresValue] { columns(0..<count, lanes: lanes) }

  /// The columns of the customers in a slice.
  private func columns(_ slice: Range<Int>, lanes: [Line: Int64]) -> [PostgresValue] {
    let bases = lines.map { line in
      (
        waiting: PostgresPosition.of(state: 1, lane: lanes[line] ?? 0, ticket: 0),
        delayed: PostgresPosition.of(state: 2, lane: lanes[line] ?? 0, ticket: 0)
      )
    }
    let positions = slice.map { place in
      dueTimes[place] == 0 ? bases[Int(lineIndexes[place])].waiting : bases[Int(lineIndexes[place])].delayed
    }
    return [
      .integers(positions), .integers(Array(amounts[slice])), .integers(Array(accounts[slice])),
      .integers(Array(dueTimes[slice])), .texts(Array(articles[slice])), .manyBytes(Array(payloads[slice])),
    ]
  }

  /// Columns of the customers' own keys and their digests.
  var ownKeys: [PostgresValue] { [.texts(keys), .integers(digests)] }
  /// All own keys, without the missing ones.
  var allKeys: [String?] { keys.filter { $0 != nil } }
}
