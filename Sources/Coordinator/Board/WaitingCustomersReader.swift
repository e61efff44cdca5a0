// First waiting customers of all lines. Of a line that is partly only in the store, the next customers are read from
// the store and cached while they are valid, so that frequent snapshots do not query unchanged data.
// While the store must not be queried, because a reset is written or staged changes were discarded, customers that are
// only in the store are omitted.

import BankModel
import Posix
import QueueCore

final class WaitingCustomersReader: CoordinatorComponent {
  /// Cached numbers of the first customers of one line that are in the store and not in memory.
  private struct Page {
    var beyond: QueueMachine.UnloadedRange
    var numbers: [TicketNumber] = []
    /// True if the page contains all customers of the line that are only in the store and have tickets on disk.
    var isWhole = false

    /// True if the page is still valid: the part of its line that is only in the store has not changed, except for
    /// newcomers behind an incomplete page.
    func holds(for present: QueueMachine.UnloadedRange) -> Bool {
      var same = present
      if !isWhole { same.count = beyond.count }
      return same == beyond
    }
  }

  /// Page sizes of the first read and of later reads. The first is small, because most lines contribute few
  /// customers to the list.
  private static let (firstPage, nextPage) = (32, 200)

  /// Cached pages by index of the line.
  private var pages: [Int: Page] = [:]
  private var day: BusinessDay = 0
  /// Tickets of customers at windows, which the store also returns as waiting; nil until the first read.
  private var servingCustomers: Set<TicketNumber>?

  /// First waiting customers over all lines, by ticket number.
  func first(_ limit: Int) -> [(ticket: TicketNumber, line: Line)] {
    servingCustomers = nil
    // Ticket numbers start again with each day.
    if day != queue.machine.dayCounters.day { forget() }
    day = queue.machine.dayCounters.day
    defer { servingCustomers = nil }
    // The error is reported after the read: `queue.machine` is borrowed until then.
    var failure: StoreError?
    let first = queue.machine.firstWaiting(limit: limit) { beyond, after in
      guard failure == nil else { return [] }
      do throws(StoreError) { return try numbers(of: beyond, after: after) } catch {
        failure = error
        return []
      }
    }
    if let failure { queue.fail(failure) }
    return Mutant.omitsFirstWaitingFromBoard.isActive ? Array(first.dropFirst()) : first
  }

  /// Drops the cache.
  func forget() { pages = [:] }

  /// Numbers of customers of a line after this ticket, from the cache or else from the store.
  private func numbers(
    of beyond: QueueMachine.UnloadedRange, after: TicketNumber
  ) throws(StoreError) -> [TicketNumber] {
    guard queue.engine.isWorking, !queue.engine.isResetting else { return [] }
    var page = pages[beyond.place].flatMap { $0.holds(for: beyond) ? $0 : nil } ?? Page(beyond: beyond)
    var rest = page.numbers[page.numbers.partition(after: after)...]
    while rest.isEmpty, !page.isWhole {
      try read(into: &page)
      rest = page.numbers[page.numbers.partition(after: after)...]
    }
    pages[beyond.place] = page
    return Array(rest)
  }

  /// Reads more customers of a line into its page.
  private func read(into page: inout Page) throws(StoreError) {
    let limit = page.numbers.isEmpty ? Self.firstPage : Self.nextPage
    var last = page.numbers.last ?? page.beyond.after
    let servingCustomers = servingCustomers ?? Set(queue.machine.servingCustomers.map(\.customer.ticket))
    self.servingCustomers = servingCustomers
    // New customers are at the end of the line. Their tickets may not be on disk yet.
    let issued = queue.engine.durableCounters.issued
    while true {
      let found = try store.page(of: page.beyond.line, after: last, limit: limit).map(\.ticket)
      let shown = found.filter {
        $0 <= issued && (!servingCustomers.contains($0) || Mutant.listsServedAsWaiting.isActive)
      }
      page.numbers += shown
      page.isWhole = found.count < limit || found[found.count - 1] > issued
      guard shown.isEmpty, !page.isWhole else { return }
      last = found[found.count - 1]
    }
  }
}

extension [TicketNumber] {
  /// Index of the first number after `ticket` in a sorted array.
  fileprivate func partition(after ticket: TicketNumber) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= ticket { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
