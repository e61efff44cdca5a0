// Owns who waits first in the lines, as far as the queue has them in the store alone: what was read of them is remembered as
// long as it holds, so that a picture many times a second asks the store for nothing that has not changed.
// Invariant: only those are named whose tickets are on disk and who are at no window. While the store must not be asked, because
// it is being emptied or has forgotten what was staged, nobody is named who stands in it alone.

import BankModel
import Posix
import QueueCore

final class WaitingReader: BankPart {
  private struct Page {
    var beyond: QueueMachine.BeyondMemory
    var numbers: [TicketNumber] = []
    /// Everybody who was there is among them.
    var isWhole = false

    /// Whether it still shows who stands there.
    func holds(for present: QueueMachine.BeyondMemory) -> Bool {
      var same = present
      if !isWhole { same.count = beyond.count }
      return same == beyond
    }
  }

  /// So many are read at first, and so many further ones: most lines have few among the first.
  private static let (firstPage, nextPage) = (32, 200)

  private var pages: [Int: Page] = [:]
  private var day: BusinessDay = 0
  /// Those at windows, who stand in the store as well; nil until somebody is read.
  private var atWindows: Set<TicketNumber>?

  /// The first who wait in the order of their numbers, over all lines.
  func first(_ limit: Int) -> [(ticket: TicketNumber, line: Line)] {
    atWindows = nil
    // The numbers begin anew with a day.
    if day != queue.machine.books.day { forget() }
    day = queue.machine.books.day
    defer { atWindows = nil }
    // The queue is told of it when it is not being looked at any more.
    var failure: StoreError?
    let first = queue.machine.firstWaiting(limit: limit) { beyond, after in
      guard failure == nil else { return [] }
      do throws(StoreError) { return try numbers(of: beyond, after: after) } catch {
        failure = error
        return []
      }
    }
    if let failure { queue.fail(failure) }
    return Kernel.makes("leavesTheFirstOffTheBoard") ? Array(first.dropFirst()) : first
  }

  /// Nobody looks any more.
  func forget() { pages = [:] }

  private func numbers(
    of beyond: QueueMachine.BeyondMemory, after: TicketNumber
  ) throws(StoreError) -> [TicketNumber] {
    guard queue.engine.isWorking, !queue.engine.isEmptying else { return [] }
    var page = pages[beyond.place].flatMap { $0.holds(for: beyond) ? $0 : nil } ?? Page(beyond: beyond)
    var rest = page.numbers[page.numbers.partition(after: after)...]
    while rest.isEmpty, !page.isWhole {
      try read(into: &page)
      rest = page.numbers[page.numbers.partition(after: after)...]
    }
    pages[beyond.place] = page
    return Array(rest)
  }

  private func read(into page: inout Page) throws(StoreError) {
    let limit = page.numbers.isEmpty ? Self.firstPage : Self.nextPage
    var last = page.numbers.last ?? page.beyond.after
    let atWindows = atWindows ?? Set(queue.machine.atWindows.map(\.customer.ticket))
    self.atWindows = atWindows
    // Newcomers stand at the end, and have no tickets yet.
    let issued = queue.engine.keptBooks.issued
    while true {
      let found = try store.page(of: page.beyond.line, after: last, limit: limit).map(\.ticket)
      let shown = found.filter {
        $0 <= issued && (!atWindows.contains($0) || Kernel.makes("paintsThoseAtWindowsAsWaiting"))
      }
      page.numbers += shown
      page.isWhole = found.count < limit || found[found.count - 1] > issued
      guard shown.isEmpty, !page.isWhole else { return }
      last = found[found.count - 1]
    }
  }
}

extension [TicketNumber] {
  /// The place of the first number behind another, where they are in order.
  fileprivate func partition(after ticket: TicketNumber) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= ticket { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
