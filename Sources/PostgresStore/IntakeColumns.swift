// Owns those who ask for tickets in one request, as the columns of the statement that gives them.
// Invariant: one entry for each customer in all columns; either the request has a key, or customers of it have keys of their
// own, no two the same.
import BankModel
import Postgres
import QueueCore
import Time

/// Customers who ask for tickets together: all are given theirs in one transaction, or nobody is.
struct IntakeColumns {
  /// The moment of issue.
  private(set) var issuedAt: WallTime
  /// The key of the whole request; nil for none.
  let key: String?
  /// What is asked for under the key, as a number; nil where that is not said.
  let digest: Int64?
  /// How many there are.
  var count: Int { amounts.count }
  /// In which lines they stand, each named once.
  private(set) var lines: [Line] = []
  /// Whether somebody has a key of its own.
  private(set) var hasOwnKeys = false
  /// Of each the place in ``lines``, and whether it is delayed.
  private var places: [Int32] = []
  private var amounts: [Int64] = []
  private var accounts: [Int64] = []
  private var dues: [Int64] = []
  private var articles: [String?] = []
  private var payloads: [[UInt8]?] = []
  private var keys: [String?] = []
  private var digests: [Int64] = []
  private var placeOfLine: [Line: Int32] = [:]

  init(_ request: IntakeRequest) {
    (issuedAt, key, digest) = (request.issuedAt, request.key, request.digest)
    precondition(request.keyed.isEmpty || key == nil, "the request or its customers have keys")
    let count = request.orders.count
    places.reserveCapacity(count)
    amounts.reserveCapacity(count)
    accounts.reserveCapacity(count)
    dues.reserveCapacity(count)
    articles.reserveCapacity(count)
    for order in request.orders { add(order) }
    payloads = Array(repeating: nil, count: count)
    for (payload, places) in request.payloads { for place in places { payloads[place] = payload } }
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
    let place = placeOfLine[line] ?? Int32(lines.count)
    if place == lines.count {
      placeOfLine[line] = place
      lines.append(line)
    }
    places.append(place)
    amounts.append(order.amount)
    accounts.append(order.account)
    // 0 stands for nobody's moment.
    dues.append(order.dueAt.map { max(1, $0.milliseconds) } ?? 0)
    articles.append(order.article.isEmpty ? nil : order.article)
  }

  /// All moments by the database's clock from here on, which is asked for as soon as they come: the branch's may be set later.
  mutating func tell(by clock: SharedClock, at now: Moment) {
    issuedAt = WallTime(milliseconds: clock.theirs(issuedAt))
    for place in dues.indices where dues[place] > 0 {
      dues[place] = max(1, clock.due(WallTime(milliseconds: dues[place]), at: now))
    }
  }

  /// What it takes on its way to the server, about, in bytes.
  private(set) var size = 0

  private func size(at place: Int) -> Int {
    76 + (articles[place]?.utf8.count ?? 0) + (payloads[place]?.count ?? 0) + (keys[place]?.utf8.count ?? 0)
  }

  /// The customers from one on that go together in one slice, at least one.
  func slice(from first: Int, bytes: Int, customers: Int) -> Range<Int> {
    var (end, sum) = (first, 0)
    while end < count, end - first < customers {
      sum += size(at: end)
      if sum > bytes, end > first { break }
      end += 1
    }
    return first..<end
  }

  /// One slice as the parameters of ``PostgresStatements/arrive`` behind the part's number.
  func arriving(_ slice: Range<Int>, lanes: [Line: Int64]) -> [PostgresValue] {
    var counts: [Int32: (waiting: Int64, delayed: Int64)] = [:]
    for place in slice {
      if dues[place] == 0 {
        counts[places[place], default: (0, 0)].waiting += 1
      } else {
        counts[places[place], default: (0, 0)].delayed += 1
      }
    }
    let order = counts.sorted { $0.key < $1.key }
    return [
      .integer(Int64(slice.lowerBound)), .integers(order.map { lanes[lines[Int($0.key)]] ?? 0 }),
      .integers(order.map(\.value.waiting)), .integers(order.map(\.value.delayed)),
    ] + columns(slice, lanes: lanes) + [.texts(Array(keys[slice])), .integers(Array(digests[slice]))]
  }

  /// Whether somebody is not to be served at once.
  var hasDelayed: Bool { dues.contains { $0 > 0 } }

  /// Stands for a digest that was not given.
  static let noDigest = Int64.min

  /// The columns of positions (without tickets), amounts, accounts, moments, articles and payloads.
  func columns(lanes: [Line: Int64]) -> [PostgresValue] { columns(0..<count, lanes: lanes) }

  private func columns(_ slice: Range<Int>, lanes: [Line: Int64]) -> [PostgresValue] {
    let bases = lines.map { line in
      (
        waiting: PostgresPosition.of(state: 1, lane: lanes[line] ?? 0, ticket: 0),
        delayed: PostgresPosition.of(state: 2, lane: lanes[line] ?? 0, ticket: 0)
      )
    }
    let positions = slice.map { place in
      dues[place] == 0 ? bases[Int(places[place])].waiting : bases[Int(places[place])].delayed
    }
    return [
      .integers(positions), .integers(Array(amounts[slice])), .integers(Array(accounts[slice])),
      .integers(Array(dues[slice])), .texts(Array(articles[slice])), .manyBytes(Array(payloads[slice])),
    ]
  }

  /// The columns of their own keys, and of what is asked for under them.
  var ownKeys: [PostgresValue] { [.texts(keys), .integers(digests)] }
  /// All their own keys.
  var allKeys: [String?] { keys.filter { $0 != nil } }
}
