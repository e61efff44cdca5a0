// State of the shared bank as known to this branch:
// its identity, and the last counts of the whole bank.

import BankModel
import QueueCore
import Time

final class SharedStoreSession {
  let store: any SharedQueueStore
  /// Address of the database, for the reader process; nil if there is no reader.
  let address: String?
  /// Identity of this branch in its present epoch.
  private(set) var identity: BranchIdentity
  /// Last known counts of the whole bank.
  private(set) var numbers: BankCounters
  /// Time at which the last counts were requested, so they are at least this recent; nil before the first answer to
  /// such a query.
  private(set) var polledAt: MonotonicTime?
  /// True while the day of the whole bank is being ended.
  private(set) var isDraining: Bool
  /// Earliest time of the query that must confirm that the bank is empty: another branch may have admitted
  /// customers just before the database stored the drain. Nil after this query, and without a drain.
  private(set) var confirmEmptyAfter: MonotonicTime?
  /// True after the branch has returned all its claims and left the bank.
  private(set) var hasLeft = false
  /// Last known state of the database, which the home records; nil before the first report, and without an address.
  private(set) var note: SharedStoreMarkerFile?
  /// Some of the cancelled tickets whose reservations this branch's stock has to release, oldest first.
  private(set) var releases: [OwedRelease] = []
  /// Customers served by each branch as of an earlier query, and the time of that query. Rates are computed
  /// from them.
  private var before: (served: [Int64: Int64], at: MonotonicTime)?
  /// Customers that each branch serves per second, by branch number.
  private var rates: [Int64: Double] = [:]

  init(_ store: any SharedQueueStore, _ opening: BranchJoinState, address: String?) {
    (self.store, self.address) = (store, address)
    identity = opening.identity
    isDraining = opening.isDraining
    numbers = BankCounters(day: opening.dayCounters.day)
  }

  /// Stores the counts of the whole bank, and computes the rate of each branch if the last computation is old enough.
  func handle(_ numbers: BankCounters, at now: MonotonicTime) {
    self.numbers = numbers
    let served = Dictionary(
      numbers.branches.map { ($0.identity.number, $0.served) }, uniquingKeysWith: { $1 })
    guard let before else { return self.before = (served, now) }
    let seconds = Double(now.since(before.at).milliseconds) / 1_000
    guard seconds >= 0.9 else { return }
    rates = served.mapValues { _ in 0 }
    for (branch, count) in served {
      rates[branch] = Double(max(0, count - (before.served[branch] ?? count))) / seconds
    }
    self.before = (served, now)
  }

  /// Records that the counts are at least as recent as a query that was sent at this time.
  func countersConfirmed(askedAt: MonotonicTime) {
    polledAt = askedAt
    if let confirmEmptyAfter, askedAt >= confirmEmptyAfter { self.confirmEmptyAfter = nil }
  }
  /// Stores the last known progress of the database, which the home's marker file will record.
  func handle(_ mark: SharedStoreProgress) {
    note = address.map { SharedStoreMarkerFile(address: $0, branch: identity.name, mark: mark) }
  }
  /// Stores the cancelled tickets whose reservations the stock has to release.
  func handle(_ releases: [OwedRelease]) { self.releases = releases }
  /// Removes a ticket whose reservation the stock has released.
  func released(_ ticket: TicketOfDay) { releases.removeAll { $0.ticket == ticket } }

  /// Starts a drain that the database has reported. The query that reported the drain also confirms the counts, so
  /// no further query is necessary.
  func beginDraining() {
    isDraining = true
    confirmEmptyAfter = MonotonicTime(nanoseconds: 0)
  }

  /// Starts a drain requested by a client of this branch, which the database has not stored yet.
  func requestDrain() {
    isDraining = true
    confirmEmptyAfter = MonotonicTime(nanoseconds: .max)
  }

  /// Records that the database has stored the drain at this time.
  func recordStoredDrain(at now: MonotonicTime) { if confirmEmptyAfter != nil { confirmEmptyAfter = now } }
  /// Records the identity after the store has joined the bank again, by itself, with a new epoch.
  func joined(_ identity: BranchIdentity) { self.identity = identity }
  func left() { hasLeft = true }

  /// Customers that a branch serves per second; nil if unknown.
  func rate(of branch: Int64) -> Double? { rates[branch] }

  /// Last known counts of a service in all branches.
  func counts(of service: Service) -> BankCounters.ServiceCounts {
    service.index < numbers.services.count ? numbers.services[service.index] : .init()
  }

  /// Customers by service index who are neither finished nor dead letters, and may be served by this branch.
  /// Customers bound to the stock of another branch are served by that branch.
  var remaining: [Int64] {
    numbers.services.indices.map { index in
      let counts = numbers.services[index]
      return Service(index: index).usesStock ? juices : counts.waiting + counts.delayed
    }
  }

  /// Customers waiting for this branch's stock.
  private var juices: Int64 { numbers.branches.first { $0.identity.number == identity.number }?.juices ?? 0 }
}
