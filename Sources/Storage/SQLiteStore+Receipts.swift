// Storage of receipts in pages, and queries by sequence number, day, service and ticket.
// Invariant: receipts are numbered without gaps, in commit order, and written once. A second receipt of a
// ticket is rejected when the block of the ticket is written, before the commit.

import BankModel
import QueueCore
import Time

// MARK: Writing

extension SQLiteStore {
  /// Gathers a receipt and assigns its sequence number.
  func addToBatch(_ receipt: Receipt) throws(StoreError) {
    precondition(
      receipt.window == nil || receipt.window?.service == receipt.service,
      "A window serves its own service only.")
    precondition(1...Limits.ticket ~= receipt.ticket, "A ticket is out of range.")
    sequence += 1
    try addToBatch(ReceiptEntry(receipt, sequence: sequence))
  }

  /// Gathers a receipt that already has its sequence number.
  func addToBatch(_ entry: ReceiptEntry) throws(StoreError) {
    if !batch.page.hasRoom(on: entry.day) { try writePage() }
    batch.page.append(entry)
    batch.receiptTickets.append(
      RowBatch.ReceiptTicket(day: entry.day, ticket: entry.ticket, sequence: entry.sequence))
    if batch.receiptTickets.count == RowBatch.maxEntries { try writeReceipts() }
  }

  /// Writes the gathered receipts, and their sequence numbers by ticket.
  func writeReceipts() throws(StoreError) {
    guard !batch.receiptTickets.isEmpty else { return }
    try writePage()
    try writeReceiptTickets()
  }

  /// Writes the page that is being filled, if it has a receipt.
  private func writePage() throws(StoreError) {
    guard batch.page.count > 0 else { return }
    batch.page.close()
    let statement = statements.insertPage
    statement.bindAll(batch.page.first, batch.page.day, batch.page.moment)
    try statement.bind(4, utf8: batch.page.text)
    try statement.run()
    batch.page.forget()
  }

  /// Writes the sequence numbers of the receipts into the blocks of their tickets.
  private func writeReceiptTickets() throws(StoreError) {
    batch.receiptTickets.sort { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
    var rest = batch.receiptTickets[...]
    while let first = rest.first {
      let key = TicketBlock.key(first.day, first.ticket)
      var block = try block(key) ?? TicketBlock()
      while let holder = rest.first, TicketBlock.key(holder.day, holder.ticket) == key {
        guard let found = block[holder.ticket] else { throw damage(MessageDetail(.blockInvalid, key)) }
        if found != 0 { throw damage(MessageDetail(.receiptTwice, holder.ticket, holder.day)) }
        block.put(holder.sequence, for: holder.ticket)
        rest.removeFirst()
      }
      statements.putBlock.bind(1, key)
      try statements.putBlock.bind(2, utf8: block.text)
      try statements.putBlock.run()
    }
    batch.receiptTickets.removeAll(keepingCapacity: true)
  }

  /// Reads a block of tickets; nil if there is none.
  func block(_ key: Int64) throws(StoreError) -> TicketBlock? {
    statements.block.bind(1, key)
    guard let text = try statements.block.first({ $0.utf8(0) }) else { return nil }
    guard let block = TicketBlock(text: text) else { throw damage(MessageDetail(.blockInvalid, key)) }
    return block
  }

  /// Sequence number of the last receipt; 0 for none.
  static func readLastReceipt(_ database: Database) throws(StoreError) -> Int64 {
    let last = try database.withStatement(
      "SELECT \(Statements.pageColumns) FROM receipt_page ORDER BY first DESC LIMIT 1",
      while: "counting receipts"
    ) { row throws(StoreError) in try row.first { (first: $0.integer(0), entries: entries($0)) } }
    guard let last else { return 0 }
    guard let sequence = last.entries?.last?.sequence, 1...TicketBlock.highest - (1 << 32) ~= sequence else {
      throw .damaged(path: database.path, detail: MessageDetail(.pageInvalid, last.first))
    }
    return sequence
  }
}

// MARK: Reading

extension SQLiteStore {
  /// Receipts in commit order after a sequence number. See `QueueReader`.
  public func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt] {
    try settle()
    if let day {
      statements.pagesOfDay.bindAll(day, Self.page(before: sequence))
      return try page(statements.pagesOfDay, after: sequence, limit: limit)
    }
    statements.pages.bind(1, Self.page(before: sequence))
    return try page(statements.pages, after: sequence, limit: limit)
  }

  /// Receipts of one service over all days. See `QueueReader`.
  ///
  /// The function scans all receipts in the range, because there is no index by service.
  public func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    try settle()
    statements.pages.bind(1, Self.page(before: sequence))
    return try page(
      statements.pages, after: sequence, through: last, of: Int64(service.number), limit: limit)
  }

  /// The receipt of one ticket; nil if there is none.
  public func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    guard var receipt = try bareReceipt(day: day, ticket: ticket) else { return nil }
    try addResult(to: &receipt)
    return receipt
  }

  /// The receipt of one ticket, without the result of the work; nil if there is none.
  func bareReceipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    try settle()
    guard 1...Limits.ticket ~= ticket, let block = try block(TicketBlock.key(day, ticket)) else { return nil }
    guard let number = block[ticket] else {
      throw damage(MessageDetail(.blockInvalid, TicketBlock.key(day, ticket)))
    }
    if number == 0 { return nil }
    var pages = PageCache()
    guard let entry = try entry(numbered: number, &pages), entry.day == day, entry.ticket == ticket else {
      throw damage(MessageDetail(.receiptOfOtherTicket, ticket, day, number))
    }
    return try receipt(entry)
  }

  /// Number of cancelled receipts of a day in a range of tickets. See `QueueReader`.
  public func countCancelled(
    _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
  ) throws(StoreError) -> Int64 {
    try settle()
    let pages = statements.pagesOfDay
    pages.bindAll(day, Self.page(before: 0))
    defer { pages.reset() }
    var count: Int64 = 0
    while let entries = try nextPage(pages) {
      for entry in entries
      where entry.outcome == Int64(Outcome.cancelled.rawValue) && tickets.contains(entry.ticket) {
        count += 1
      }
    }
    return count
  }

  /// Exclusive lower bound of the pages that may contain receipts after `sequence`.
  private static func page(before sequence: Int64) -> Int64 { max(0, sequence) - Int64(ReceiptPage.longest) }

  /// Returns receipts with their results, at most `limit`. The list ends early if the results are long.
  ///
  /// - Parameter statement: statement that returns the stored pages in order.
  private func page(
    _ statement: Statement, after sequence: Int64, through last: Int64 = .max, of service: Int64? = nil,
    limit: Int
  ) throws(StoreError) -> [Receipt] {
    var walk = ResultScan()
    defer {
      statement.reset()
      if walk.hasBegun { statements.results.reset() }
    }
    var receipts: [Receipt] = []
    var bytes = 0
    while let entries = try nextPage(statement) {
      for entry in entries where entry.sequence > sequence {
        if receipts.count >= limit || bytes >= [Receipt].maxResultBytes || entry.sequence > last {
          return receipts
        }
        if let service, entry.service != service { continue }
        var receipt = try receipt(entry)
        if results.mayHave(entry.sequence) {
          receipt.result = try result(of: entry.sequence, &walk)
          bytes += receipt.result?.size ?? 0
        }
        receipts.append(receipt)
      }
      if receipts.count >= limit { break }
    }
    return receipts
  }

  /// The receipts of the next row; nil after the last row.
  func nextPage(_ statement: Statement) throws(StoreError) -> [ReceiptEntry]? {
    guard try statement.step() else { return nil }
    guard let entries = Self.entries(statement) else {
      throw damage(MessageDetail(.pageInvalid, statement.integer(0)))
    }
    return entries
  }

  /// The receipts in a row; nil if the row is invalid.
  static func entries(_ row: Statement) -> [ReceiptEntry]? {
    row.withUTF8(3) {
      ReceiptEntry.read($0, first: row.integer(0), day: row.integer(1), at: row.integer(2))
    }
  }

  /// Calls `visit` with each receipt, in the order of their sequence numbers, with a separate statement.
  func eachEntry(_ visit: (ReceiptEntry) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      "SELECT \(Statements.pageColumns) FROM receipt_page ORDER BY first", while: "reading all receipts"
    ) { row throws(StoreError) in
      while let entries = try nextPage(row) {
        for entry in entries { try visit(entry) }
      }
    }
  }

  /// Converts an entry to a receipt, without the result of the work.
  func receipt(_ entry: ReceiptEntry) throws(StoreError) -> Receipt {
    let line = try line(service: entry.service, priority: entry.priority)
    guard let outcome = UInt8(exactly: entry.outcome).flatMap(Outcome.init(rawValue:)) else {
      throw damage(MessageDetail(.receiptOutcome, entry.sequence, entry.outcome))
    }
    var window: Window?
    if let place = entry.place { window = Window(service: line.service, place: try small(place)) }
    return Receipt(
      sequence: entry.sequence, day: entry.day, ticket: entry.ticket, service: line.service,
      priority: line.priority, outcome: outcome, window: window, generation: try small(entry.generation),
      pid: try small(entry.pid), attempts: try small(entry.attempts), amount: entry.amount,
      account: entry.account, issuedAt: WallTime(milliseconds: entry.issued),
      startedAt: entry.started.map(WallTime.init(milliseconds:)),
      finishedAt: WallTime(milliseconds: entry.finished), itemName: entry.itemName,
      shortages: outcome == .outOfStock ? try shortages(day: entry.day, ticket: entry.ticket) : [],
      postingRule: try postingRule(entry))
  }

  /// Accounts of the transfer of a receipt; nil if it has none.
  private func postingRule(_ entry: ReceiptEntry) throws(StoreError) -> PostingRule? {
    guard let debit = entry.debit, let credit = entry.credit else { return nil }
    guard let rule = PostingRule(debit: debit, credit: credit, account: entry.account) else {
      throw damage(MessageDetail(.transferInvalid, entry.sequence))
    }
    return rule
  }

  private func shortages(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Shortage] {
    statements.shortages.bindAll(day, ticket)
    return try statements.shortages.all {
      Shortage(item: ItemID($0.text(0)), needed: $0.integer(1), available: $0.integer(2))
    }
  }

  /// The receipt with this sequence number; nil if there is none.
  ///
  /// - Parameter pages: cache of pages.
  func entry(numbered number: Int64, _ pages: inout PageCache) throws(StoreError) -> ReceiptEntry? {
    if let known = pages.entry(numbered: number) { return known }
    statements.pageOfReceipt.bind(1, number)
    defer { statements.pageOfReceipt.reset() }
    guard let entries = try nextPage(statements.pageOfReceipt), let first = entries.first else { return nil }
    pages.keep(entries)
    let (place, isFarther) = number.subtractingReportingOverflow(first.sequence)
    return !isFarther && 0..<Int64(entries.count) ~= place ? entries[Int(place)] : nil
  }
}

/// Cache of the pages that were read last.
struct PageCache {
  private static let maxEntries = 32
  /// Entries of each page.
  private var pages: [[ReceiptEntry]] = []
  /// Index of the page that is replaced next.
  private var next = 0
  /// Index of the page that was added last, or in which a receipt was found last.
  private var latest = 0

  /// Adds a page, in place of the oldest one if the cache is full.
  mutating func keep(_ entries: [ReceiptEntry]) {
    if pages.count < Self.maxEntries {
      latest = pages.count
      return pages.append(entries)
    }
    latest = next
    pages[next] = entries
    next = (next + 1) % Self.maxEntries
  }

  /// The receipt with this sequence number; nil if it is not in the cache.
  mutating func entry(numbered number: Int64) -> ReceiptEntry? {
    guard !pages.isEmpty else { return nil }
    if let found = Self.entry(numbered: number, in: pages[latest]) { return found }
    for place in pages.indices {
      if let found = Self.entry(numbered: number, in: pages[place]) {
        latest = place
        return found
      }
    }
    return nil
  }

  /// The receipt with this sequence number in one page; nil if it is not there.
  private static func entry(numbered number: Int64, in page: [ReceiptEntry]) -> ReceiptEntry? {
    guard let first = page.first?.sequence, number >= first, number - first < Int64(page.count) else {
      return nil
    }
    return page[Int(number - first)]
  }
}
