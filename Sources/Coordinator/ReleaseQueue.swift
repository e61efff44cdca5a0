// Release of stock that cancelled tickets have reserved: reads the store's records and asks the stock to release the
// order of each ticket.
// Invariant: a record is removed only after the stock has answered, and a repeated request releases nothing more. So no
// crash loses or repeats a release. A stock that does not answer is asked again later.

import BankModel
import Posix
import QueueCore
import StockClient
import Time

package final class ReleaseQueue {
  /// Called when the stock has released what a cancelled ticket had reserved, or reports that the ticket had
  /// reserved nothing.
  package var onReleased: ((TicketOfDay) -> Void)?
  /// Called when the stock refuses a release. Repeated refusals for a ticket in `refused` are not reported.
  package var onReleaseRefused: ((TicketOfDay, String) -> Void)?

  private let stock: StockClient
  private let bankID: BankID
  private let patience: TimeSpan
  /// Tickets whose release was requested and not answered yet.
  private var inFlight: Set<TicketOfDay> = []
  /// True if there may be records that no scan has covered.
  private var isDue = true
  /// Position of the present scan through the records; nil if there is none.
  private var scan: ReleaseScan?
  /// Time of the next scan after a pause; nil for none.
  private var retryAt: MonotonicTime?
  /// Refused tickets, with the stock's message.
  private(set) var refused: [TicketOfDay: String] = [:]
  /// Time of the next scan that retries refused tickets; nil for none.
  private var refusedAt: MonotonicTime?

  private struct ReleaseScan {
    /// Last record covered.
    var position: TicketOfDay?
    /// True to retry refused tickets, too.
    var retriesRefused: Bool
  }

  static let limit = 64
  /// Largest number of refused tickets in memory; the releases of others are requested again in each scan.
  static let maxRefused = 4_096
  /// Pauses after the stock did not answer or had a full disk, and after it has refused a release.
  private static let pause = TimeSpan.seconds(1)
  static let longPause = TimeSpan.seconds(30)

  package init(_ stock: StockClient, _ bankID: BankID = .none, patience: TimeSpan = .seconds(10)) {
    self.stock = stock
    self.bankID = bankID
    self.patience = patience
  }

  /// Makes the next ``advance(_:now:)`` start a scan, because there may be new records.
  package func requestScan() { isDue = true }

  /// Ends the scan because the disk is full and releases cannot be recorded. Another scan starts after a pause:
  /// without a pause, a release whose record the store has discarded would be requested again at once,
  /// repeatedly.
  package func postpone() {
    isDue = false
    if !Mutant.neverRetriesRelease.isActive { tryLater() }
  }

  package var nextDeadline: MonotonicTime? { .earlier(retryAt, refusedAt) }

  /// Requests the release of recorded tickets. Only records on disk are used: a cancellation that a crash
  /// undoes must not have released anything.
  package func advance(_ store: any QueueReader, now: MonotonicTime) throws(StoreError) {
    if let due = retryAt, due <= now {
      retryAt = nil
      isDue = true
    }
    let retriesRefused = refusedAt.map { $0 <= now } ?? false
    guard isDue || retriesRefused || scan != nil,
      !store.hasStagedChanges || Mutant.releasesBeforeCommit.isActive
    else { return }
    if scan == nil || retriesRefused {
      (isDue, refusedAt) = (false, retriesRefused ? nil : refusedAt)
      scan = ReleaseScan(position: nil, retriesRefused: retriesRefused)
    }
    try continueScan(store)
  }

  /// Continues the scan within the limit of requests in flight.
  private func continueScan(_ store: any QueueReader) throws(StoreError) {
    while inFlight.count < Self.limit, let scan {
      let page = try store.unreleased(after: scan.position, limit: Self.limit)
      for ticket in page where inFlight.count < Self.limit {
        // The previous request may have failed at once, without a connection to the stock, which ends the scan.
        guard self.scan != nil else { return }
        self.scan?.position = ticket
        guard scan.retriesRefused || refused[ticket] == nil else { continue }
        if Mutant.neverReleasesStock.isActive {
          released(ticket)
          continue
        }
        guard inFlight.insert(ticket).inserted else { continue }
        let issued = try store.issueTime(ofUnreleased: ticket)
        let order = issued.map { bankID.order(day: ticket.day, ticket: ticket.ticket, issuedAt: $0) }
        ask(for: ticket, as: order ?? OrderID(day: ticket.day, ticket: ticket.ticket))
      }
      if page.count < Self.limit, self.scan?.position == page.last ?? scan.position { self.scan = nil }
    }
  }

  private func ask(for ticket: TicketOfDay, as order: OrderID) {
    stock.ask(.returnItems, as: order, until: SystemClock.monotonic() + patience) { [weak self] result in
      guard let self else { return }
      if !Mutant.requestsReleaseOnce.isActive { self.inFlight.remove(ticket) }
      switch result {
      case .success(.done): self.released(ticket)
      // An earlier request has released the stock.
      case .success(.failure(let failure)) where failure.code == .wasReturned: self.released(ticket)
      case .success(.failure(let failure)) where failure.code == .diskFull:
        if Mutant.treatsStockDiskFullAsReleased.isActive {
          self.released(ticket)
        } else {
          self.tryLater()
        }
      case .success(.failure(let failure)): self.refused(ticket, "\(failure.code.name) \(failure.detail)")
      case .success(let other): self.refused(ticket, "an unexpected response: \(other)")
      case .failure where Mutant.treatsTimeoutAsReleased.isActive: self.released(ticket)
      case .failure: self.tryLater()
      }
    }
  }

  /// Refused releases as problems for an audit: at most `limit` of them, and the number of the others.
  func problems(limit: Int = 100) -> [MessageDetail] {
    let tickets = refused.keys.sorted { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
    let reported = tickets.prefix(limit).map {
      MessageDetail(.notReturned, $0.ticket, $0.day, refused[$0] ?? "")
    }
    let unreported = tickets.count - reported.count
    return unreported > 0 ? reported + [MessageDetail(.moreNotReturned, unreported)] : reported
  }

  /// Reports that the stock holds nothing for the order of a ticket any more.
  private func released(_ ticket: TicketOfDay) {
    refused[ticket] = nil
    onReleased?(ticket)
  }

  /// Records and reports that the stock has refused a release.
  private func refused(_ ticket: TicketOfDay, _ message: String) {
    if refusedAt == nil { refusedAt = SystemClock.monotonic() + Self.longPause }
    guard refused[ticket] == nil else { return }
    if refused.count < Self.maxRefused { refused[ticket] = message }
    onReleaseRefused?(ticket, message)
  }

  /// Ends the scan and starts another one after a pause.
  private func tryLater() {
    scan = nil
    retryAt = retryAt ?? SystemClock.monotonic() + Self.pause
  }
}
