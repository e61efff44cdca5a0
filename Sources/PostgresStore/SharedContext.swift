// Owns what the parts of the shared books have in common: the epoch, the day, the numbers of services and lanes, and what has
// happened and was not taken yet.
// Invariant: while there is no branch nothing is in hand, and no part sends anything in its name.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedContext {
  /// The branch in its present epoch; nil while it has none.
  var branch: PostgresBranch?
  /// The last epoch that it had.
  var lastBranch: PostgresBranch?
  var day: BusinessDay = 1
  var services = ServiceDirectory()
  var numbers = CommitNumbers()
  var clock = SharedClock()
  /// The branch was fenced: to be called where a part finds out.
  var fenced: () -> Void = {}
  /// Something was done by which the moment of who is due next may have changed, or somebody may wait.
  var lookSoon: () -> Void = {}
  /// What is known of the books and their server; nil before the first connection.
  var known: BooksMark?
  /// The server at which the pages in hand were looked at last.
  var server: BooksSight?
  /// Another server has taken over, and it is not known yet whether the pages in hand are the branch's there: neither is anything
  /// done to them, nor are others claimed.
  var isInDoubt = false
  /// The lanes in which this branch claims, and into which it takes customers.
  private(set) var lanes: [Line: Int64] = [:]
  /// All lanes: who stands there, and the branch that alone serves them, or 0.
  private var lines: [Int64: (line: Line, branch: Int64)] = [:]
  private let place: String

  init(_ place: PostgresPlace) { self.place = place.description }

  // MARK: - What has happened

  private var happenings: [SharedHappening] = []
  private var taken = 0
  /// Lines of which it was told, and not taken yet, that somebody may wait there.
  private var waiting: Set<Line> = []

  var hasHappenings: Bool { taken < happenings.count }

  /// The database takes no changes since then, as its refusal said; nil as far as is known it does.
  private(set) var noChanges: PostgresError?
  /// Requests that come now are refused.
  var onNoChanges: (PostgresError) -> Void = { _ in }

  /// Notes a refusal which says that the database takes no changes for a while: said once, until a change was taken.
  func takesNoChanges(_ error: PostgresError) {
    guard error.takesNoChanges else { return }
    let isNew = noChanges == nil
    noChanges = error
    if isNew { tell(.interrupted(error)) }
    onNoChanges(error)
  }

  /// A change was taken.
  func takesChanges() { noChanges = nil }

  func tell(_ happening: SharedHappening) {
    if case .mayWait(let line) = happening, !waiting.insert(line).inserted { return }
    happenings.append(happening)
  }

  func takeHappening() -> SharedHappening? {
    guard taken < happenings.count else { return nil }
    let happening = happenings[taken]
    taken += 1
    if taken == happenings.count {
      happenings.removeAll(keepingCapacity: true)
      taken = 0
    }
    if case .mayWait(let line) = happening { waiting.remove(line) }
    return happening
  }

  // MARK: - Lanes

  /// Takes over the lanes as the books have them, for the branch of this number.
  func know(lanes rows: PostgresRows, for own: Int64) {
    for row in 0..<rows.count {
      guard let number = rows.integer(row, 0), let service = rows.integer(row, 1),
        let priority = rows.integer(row, 2).flatMap({ Priority(code: $0) }),
        let branch = rows.integer(row, 3), let service = UInt16(exactly: service), service >= 1,
        lines[number] == nil
      else { continue }
      let line = Line(service: Service(number: service), priority: priority)
      lines[number] = (line, branch)
      if branch == Self.owner(of: line, own) || Kernel.makes("makesTheJuiceOfOthers") { lanes[line] = number }
    }
  }

  /// The books may be those of another server, which has given other numbers.
  func forgetLanes() { (lanes, lines) = ([:], [:]) }

  /// To which branch a line belongs where this one takes customers into it: its juice comes from its own stock.
  static func owner(of line: Line, _ own: Int64) -> Int64 { line.service.drawsOnStock ? own : 0 }

  /// Who stands in a lane, whoever serves there, and the branch that alone does, or 0.
  func line(_ lane: Int64) -> (line: Line, branch: Int64)? { lines[lane] }
  /// The same where this branch serves there.
  func ownLine(_ lane: Int64) -> Line? {
    guard let line = lines[lane]?.line else { return nil }
    return lanes[line] == lane ? line : nil
  }

  /// The names of the services, where they are good.
  func know(services rows: PostgresRows) {
    let names = (0..<rows.count).compactMap { rows.text($0, 0).flatMap { ServiceName($0) } }
    guard names.count == rows.count, let directory = ServiceDirectory(names: names) else { return }
    services = directory
  }

  /// The services of these numbers that are known.
  func pausedServices(_ rows: PostgresRows) -> [Service] {
    (0..<rows.count).compactMap { row in
      services.services.first { Int64($0.number) == rows.integer(row, 0) }
    }
  }

  func customers(_ page: [ClaimedCustomer], in line: Line) -> [SharedCustomer] {
    page.map { found in
      SharedCustomer(
        customer: Customer(
          ticket: found.ticket, service: line.service, priority: line.priority, amount: found.amount,
          account: found.account, issuedAt: issued(found, in: line),
          attempts: Int32(clamping: found.attempts), crashes: Int32(clamping: found.crashes),
          failures: Int32(clamping: found.failures), begun: Int16(clamping: found.begun),
          isBegun: found.isBegun, article: found.article),
        payload: found.payload)
    }
  }

  /// By the moment of issue a stock knows the order of a ticket again, in whatever epoch and with whatever clock it is asked: of
  /// those it is the database's own.
  private func issued(_ found: ClaimedCustomer, in line: Line) -> WallTime {
    line.service.drawsOnStock
      ? WallTime(milliseconds: found.issuedMilliseconds) : clock.ours(found.issuedMilliseconds)
  }

  // MARK: - Refusals

  /// What the database's refusal is to the queue. Whatever it is short of may be there again later.
  func storeError(_ error: PostgresError) -> StoreError {
    if error.sqlState?.hasPrefix("53") == true || error.takesNoChanges {
      return .diskFull(detail: Remark(quoting: "\(error)"))
    }
    return .failed(path: place, detail: Remark(quoting: "\(error)"))
  }
}

extension PostgresError {
  /// Whether the same transaction may be sent again at once: it was in the way of another, or the server is on its way out.
  var isPassing: Bool { ["40", "57P", "08"].contains { sqlState?.hasPrefix($0) == true } }
}
