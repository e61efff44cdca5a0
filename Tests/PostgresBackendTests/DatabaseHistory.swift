// A random history of three branches, written into the database by SQL as branches write: intake, pages,
// receipts, attempts, customers who are delayed, dead and requeued, branches that die, and the end of a day;
// with the expected contents of the database at the end. Invariant: the same seed is the same history.

import BankModel
import Testing

final class DatabaseHistory {
  struct HistoryCustomer {
    var ticket: Int64
    var lane: Int64
    var state: Int64
    var attempts: Int64 = 0
    var due: Int64?
    var position: Int64 { state << 60 | lane << 40 | ticket }
  }
  struct ClaimRange {
    var lane, first, last: Int64
    var branch: Int64?
    var epoch: Int64 = 0
    var at: Int64 = 0
  }

  private let stage: ReaderDatabase
  private var chance: SeededGenerator
  private(set) var day: Int64 = 1
  private(set) var issued: [Int64: Int64] = [1: 0]
  private(set) var customers: [Int64: HistoryCustomer] = [:]
  private(set) var receipts: [(day: Int64, ticket: Int64, lane: Int64, outcome: Int64)] = []
  private(set) var attempts = 0
  private var pieces: [ClaimRange] = []
  private var epochs: [Int64: Int64] = [1: 1, 2: 1, 3: 1]
  private var commit: Int64 = 0
  private var clock: Int64 = 1_000_000
  private var sql: [String] = []
  private(set) var keys: [String: (Int64, Int64, Int64)] = [:]

  init(_ stage: ReaderDatabase, seed: UInt64) {
    self.stage = stage
    chance = SeededGenerator(seed: seed)
  }

  func run(steps: Int) throws {
    for _ in 0..<steps {
      clock += 1 + chance.draw(0...20)
      switch chance.draw(0...19) {
      case 0...4: enqueueCustomers()
      case 5...9: claim(branch: 1 + chance.draw(0...2))
      case 10...15: serve()
      case 16: fail()
      case 17: requeueCustomer()
      case 18: if chance.draw(0...3) == 0 { endEpoch() } else { cancel() }
      default: if chance.draw(0...40) == 0 { endDay() }
      }
    }
    try flush()
  }

  private func flush() throws {
    try stage.run(all: sql)
    sql = []
  }

  /// A commit's number is the branch's own; here all branches count together, which is as good.
  private func tally(_ branch: Int64, _ lane: Int64, _ deltas: [String: Int64]) {
    commit += 1
    let names = deltas.keys.sorted()
    sql.append(
      """
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane\(names.map { ", \($0)" }.joined()))
      VALUES (\(branch), \(epochs[branch]!), \(commit), \(day), \(lane)\(names.map { ", \(deltas[$0]!)" }.joined()))
      """)
  }

  private func enqueueCustomers() {
    let lane = 1 + chance.draw(0...4)
    let count = 1 + chance.draw(0...15)
    let first = issued[day]! + 1
    issued[day] = first + count - 1
    let key = chance.draw(0...2) == 0 ? "key-\(day)-\(first)" : nil
    if let key { keys[key] = (day, first, first + count - 1) }
    sql.append(
      """
      INSERT INTO bank.ticket_batch (day, first, last, branch, key, request_digest)
      VALUES (\(day), \(first), \(first + count - 1), 1, \(key.map { "'\($0)'" } ?? "NULL"), 7)
      """)
    var delayed: Int64 = 0
    for ticket in first..<first + count {
      let isLater = chance.draw(0...9) == 0
      let due = isLater ? clock + chance.draw(0...1_000) : nil
      let someone = HistoryCustomer(ticket: ticket, lane: lane, state: isLater ? 2 : 1, due: due)
      if isLater { delayed += 1 }
      customers[ticket] = someone
      let amount = lane <= 3 ? 100 + ticket : 0
      sql.append(
        """
        INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, item_name, payload) VALUES
        (\(someone.position), \(amount), \(ticket % 7), \(clock), \(due.map { "\($0)" } ?? "NULL"), NULL,
        \(lane == 4 ? "'payload \(ticket)'" : "NULL"))
        """)
    }
    tally(1, lane, ["issued": count, "waiting": count - delayed, "delayed": delayed])
  }

  private func add(_ piece: ClaimRange) {
    pieces.append(piece)
    if let branch = piece.branch {
      sql.append(
        """
        INSERT INTO bank.claim VALUES (\(piece.lane), \(piece.first), \(piece.last), \(branch), \(piece.epoch),
        '2026-01-01'::timestamptz + \(piece.at) * interval '1 ms', 0)
        """)
    } else {
      sql.append("INSERT INTO bank.returned_range VALUES (\(piece.lane), \(piece.first), \(piece.last))")
    }
  }

  private func remove(at place: Int) {
    let piece = pieces.remove(at: place)
    sql.append(
      "DELETE FROM bank.\(piece.branch == nil ? "returned_range" : "claim") WHERE (lane, last) = (\(piece.lane), \(piece.last))"
    )
  }

  private func claim(branch: Int64) {
    let lane = 1 + chance.draw(0...4)
    if let place = pieces.firstIndex(where: { $0.lane == lane && $0.branch == nil }) {
      let piece = pieces[place]
      remove(at: place)
      return add(
        ClaimRange(
          lane: lane, first: piece.first, last: piece.last, branch: branch, epoch: epochs[branch]!, at: clock)
      )
    }
    let front = pieces.filter { $0.lane == lane }.map(\.last).max() ?? 0
    let page = customers.values.filter { $0.lane == lane && $0.state == 1 && $0.ticket > front }
      .map(\.ticket).sorted().prefix(10)
    guard let first = page.first, let last = page.last else { return }
    add(ClaimRange(lane: lane, first: first, last: last, branch: branch, epoch: epochs[branch]!, at: clock))
  }

  /// The first waiting customer of some page, and its place.
  private func next() -> (someone: HistoryCustomer, piece: ClaimRange)? {
    let held = pieces.filter { $0.branch != nil && epochs[$0.branch!] == $0.epoch }
    guard !held.isEmpty else { return nil }
    let piece = held[Int(chance.draw(0...Int64(held.count - 1)))]
    let waiting = customers.values.filter {
      $0.lane == piece.lane && $0.state == 1 && (piece.first...piece.last).contains($0.ticket)
    }
    return waiting.min { $0.ticket < $1.ticket }.map { ($0, piece) }
  }

  private func write(
    _ someone: HistoryCustomer, outcome: Int64, branch: Int64, place: Int64?, counts column: String
  ) {
    customers[someone.ticket] = nil
    receipts.append((day, someone.ticket, someone.lane, outcome))
    let isServed = outcome == 1
    let money = isServed && someone.lane <= 3
    let debit = money ? (someone.lane == 3 ? "-2" : "-1") : "NULL"
    let hasResult = isServed && someone.lane == 4
    sql.append(
      """
      WITH gone AS (DELETE FROM bank.customer WHERE position = \(someone.position) RETURNING *),
      """
        + ReaderDatabase.written(
          """
          INSERT INTO bank.receipt SELECT \(day), \(someone.ticket), \(someone.lane), \(outcome),
            \(place.map { "\($0)" } ?? "NULL"), 1, 4242, \(someone.attempts + (outcome == 2 ? 0 : 1)), amount, account,
            \(debit), \(money ? "account" : "NULL"), issued_ms, \(place == nil ? "NULL" : "\(clock)"), \(clock + 1),
            item_name, \(branch), \(epochs[branch]!), \(commit + 1), NULL,
            \(hasResult ? "5, 0, NULL, 'out', NULL, 3, 0, '', NULL, 0, 0" : "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL")
          FROM gone
          """))
    let state = ["", "waiting", "delayed", "dead"][Int(someone.state)]
    tally(branch, someone.lane, [state: -1, column: 1])
  }

  private func serve() {
    guard let (someone, piece) = next() else { return }
    let isLowOnSpace = chance.draw(0...19) == 0
    write(
      someone, outcome: isLowOnSpace ? 3 : 1, branch: piece.branch!, place: 1,
      counts: isLowOnSpace ? "out_of_stock" : "served")
  }

  private func fail() {
    guard let (found, piece) = next() else { return }
    var someone = found
    someone.attempts += 1
    attempts += 1
    let isDead = chance.draw(0...2) == 0
    someone.state = isDead ? 3 : 2
    someone.due = isDead ? nil : clock + 50
    customers[someone.ticket] = someone
    sql.append(
      """
      UPDATE bank.customer SET position = \(someone.position), attempts = \(someone.attempts), failures = 1,
      due_ms = \(someone.due.map { "\($0)" } ?? "NULL") WHERE position = \(found.position)
      """)
    sql.append(
      """
      INSERT INTO bank.attempt VALUES (\(day), \(someone.ticket), \(someone.attempts), \(Lanes.lines[someone.lane]!.service.number), 1, 1, 4242,
      \(clock), \(clock + 1), 5, NULL, NULL, 'no paper', \(isDead), \(piece.branch!), \(piece.epoch))
      """)
    tally(piece.branch!, someone.lane, ["waiting": -1, isDead ? "dead" : "delayed": 1])
  }

  /// A customer who is due, or dead, waits again: alone, if later pages were claimed.
  private func requeueCustomer() {
    guard
      let found = customers.values.filter({ $0.state == 3 || ($0.due ?? .max) <= clock })
        .min(by: { $0.ticket < $1.ticket })
    else { return }
    var someone = found
    (someone.state, someone.due) = (1, nil)
    customers[someone.ticket] = someone
    sql.append(
      "UPDATE bank.customer SET position = \(someone.position), due_ms = NULL WHERE position = \(found.position)"
    )
    tally(1, someone.lane, ["waiting": 1, found.state == 3 ? "dead" : "delayed": -1])
    let front = pieces.filter { $0.lane == someone.lane }.map(\.last).max() ?? 0
    guard someone.ticket <= front else { return }
    let place = pieces.firstIndex {
      $0.lane == someone.lane && ($0.first...$0.last).contains(someone.ticket)
    }
    if let place {
      let piece = pieces[place]
      if piece.branch == nil { return }
      remove(at: place)
      var (before, behind) = (piece, piece)
      before.last = someone.ticket - 1
      behind.first = someone.ticket + 1
      for part in [before, behind] where part.first <= part.last { add(part) }
    }
    add(ClaimRange(lane: someone.lane, first: someone.ticket, last: someone.ticket))
  }

  private func cancel() {
    guard let someone = customers.values.filter({ $0.state != 1 }).min(by: { $0.ticket < $1.ticket }) else {
      return
    }
    write(someone, outcome: 2, branch: 2, place: nil, counts: "cancelled")
  }

  private func endEpoch() {
    let branch = 1 + chance.draw(0...2)
    let epoch = epochs[branch]!
    epochs[branch] = epoch + 1
    sql.append("UPDATE bank.branch SET epoch = epoch + 1 WHERE id = \(branch)")
    for piece in pieces.filter({ $0.branch == branch && $0.epoch == epoch }) {
      let isLeft = customers.values.contains {
        $0.lane == piece.lane && $0.state == 1 && (piece.first...piece.last).contains($0.ticket)
      }
      guard isLeft else { continue }
      remove(at: pieces.firstIndex { $0.lane == piece.lane && $0.last == piece.last }!)
      sql.append(
        "INSERT INTO bank.released_claim VALUES (\(piece.lane), \(piece.first), \(piece.last), \(branch), \(epoch), now())"
      )
      add(ClaimRange(lane: piece.lane, first: piece.first, last: piece.last))
    }
  }

  private func endDay() {
    for someone in customers.values.sorted(by: { $0.ticket < $1.ticket }) {
      write(someone, outcome: 2, branch: 3, place: nil, counts: "cancelled")
    }
    for table in ["claim", "returned_range", "released_claim"] { sql.append("DELETE FROM bank.\(table)") }
    pieces = []
    sql.append("UPDATE bank.day SET closed_ms = \(clock) WHERE day = \(day)")
    day += 1
    issued[day] = 0
    sql += [
      "INSERT INTO bank.day (day, opened_ms) VALUES (\(day), \(clock))",
      "CREATE TABLE bank.receipt_\(day) PARTITION OF bank.receipt FOR VALUES FROM (\(day)) TO (\(day + 1))",
      "CREATE TABLE bank.commit_\(day) PARTITION OF bank.commit FOR VALUES FROM (\(day)) TO (\(day + 1))",
      "CREATE TABLE bank.attempt_\(day) PARTITION OF bank.attempt FOR VALUES FROM (\(day)) TO (\(day + 1))",
    ]
  }
}
