// Owns what this branch knows of the bank that it shares with others: who it is there, and how the whole bank was when it was
// looked at last. It changes nothing of the books.

import BankModel
import QueueCore
import Time

final class SharedBank {
  let books: any BranchStore
  /// Where they are, for the process that reads them; nil where nobody is to read them.
  let address: String?
  /// Who this branch is, in its present epoch.
  private(set) var identity: BranchIdentity
  /// How the whole bank was, not long ago.
  private(set) var numbers: BankNumbers
  /// It was so at this moment, or later; nil before it was looked at.
  private(set) var lookedAt: MonotonicTime?
  /// Whether the day is about to end.
  private(set) var isDraining: Bool
  /// The bank is looked at once more, at this moment or later, before it counts as empty: customers may have come elsewhere just
  /// before the books knew of the drain. nil if that is done, or nobody drains.
  private(set) var owesLook: MonotonicTime?
  /// Whether the branch has its lease, as far as it has heard.
  private(set) var isJoined = true
  /// Whether it has given back everybody and is no branch of the bank any more.
  private(set) var hasLeft = false
  /// For which cancelled tickets this branch's stock is to be asked; some of them, the oldest first.
  private(set) var releases: [OwedRelease] = []
  /// Whom each branch had served when it was looked at before, and when that was: its rate.
  private var before: (served: [Int64: Int64], at: MonotonicTime)?
  private var rates: [Int64: Double] = [:]

  init(_ books: any BranchStore, _ opening: BranchOpening, address: String?) {
    (self.books, self.address) = (books, address)
    identity = opening.identity
    isDraining = opening.isDraining
    numbers = BankNumbers(day: opening.books.day)
  }

  func hear(_ numbers: BankNumbers, at now: MonotonicTime) {
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

  func looked(askedAt: MonotonicTime) {
    lookedAt = askedAt
    if let owesLook, askedAt >= owesLook { self.owesLook = nil }
  }
  func hear(_ releases: [OwedRelease]) { self.releases = releases }
  /// The stock has given back what it held for a ticket.
  func released(_ ticket: TicketOfDay) { releases.removeAll { $0.ticket == ticket } }

  /// The bank drains as the books say, with the look that is being heard: that look counts, also if the client who has asked for
  /// the drain has gone and nobody hears the answer.
  func beginToDrain() {
    isDraining = true
    owesLook = MonotonicTime(nanoseconds: 0)
  }

  /// A client of this branch asks for the drain, of which the books do not know yet.
  func askToDrain() {
    isDraining = true
    owesLook = MonotonicTime(nanoseconds: .max)
  }

  /// The books know of the drain from this moment on: nobody comes behind it.
  func drainIsKnown(at now: MonotonicTime) { if owesLook != nil { owesLook = now } }
  func lost() { isJoined = false }
  func joined(_ identity: BranchIdentity) { (self.identity, isJoined) = (identity, true) }
  func left() { hasLeft = true }

  /// Whom a branch serves a second; nil where nobody knows yet.
  func rate(of branch: Int64) -> Double? { rates[branch] }

  func counts(of service: Service) -> BankNumbers.ServiceCounts {
    service.index < numbers.services.count ? numbers.services[service.index] : .init()
  }

  /// Who is not finished, is no dead letter, and may be served here, by the index of the service. What lies in the stock of
  /// another branch is that branch's business.
  var remaining: [Int64] {
    numbers.services.indices.map { index in
      let counts = numbers.services[index]
      return Service(index: index).drawsOnStock ? juices : counts.waiting + counts.delayed
    }
  }

  /// Who waits for what lies in this branch's stock.
  private var juices: Int64 { numbers.branches.first { $0.identity.number == identity.number }?.juices ?? 0 }
}
