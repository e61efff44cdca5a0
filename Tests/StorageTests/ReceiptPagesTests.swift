// The format of receipts on disk: what is written is read back, by this program and by SQL, and any other
// format is refused. The guarantees of every store about receipts are in the conformance suite.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Pages of receipts")
struct ReceiptPagesTests {
  private static let extremes: [Int64] = [0, 1, -1, 9, 10, 99, 1 << 40, .max, .min, .max - 1, .min + 1]

  private static func entry(_ draw: inout SeededGenerator, sequence: Int64) -> ReceiptEntry {
    func number(_ draw: inout SeededGenerator) -> Int64 {
      switch draw.next() % 3 {
      case 0: extremes[Int(draw.next() % UInt64(extremes.count))]
      case 1: Int64(draw.next() % 100_000)
      default: Int64(bitPattern: draw.next())
      }
    }
    func optional(_ draw: inout SeededGenerator) -> Int64? { draw.next() % 3 == 0 ? nil : number(&draw) }
    let articles = ["", "strawberry-banana", "딸기", "\"\\/\u{1}\u{1f}\n\t", "[1,2]", "\u{7f}"]
    return ReceiptEntry(
      sequence: sequence, day: 7, ticket: number(&draw), service: number(&draw), priority: number(&draw),
      outcome: number(&draw), place: optional(&draw), generation: number(&draw), pid: number(&draw),
      attempts: number(&draw), amount: number(&draw), account: number(&draw), debit: optional(&draw),
      credit: optional(&draw), issued: number(&draw), started: optional(&draw), finished: number(&draw),
      itemName: articles[Int(draw.next() % UInt64(articles.count))])
  }

  private static func page(_ entries: [ReceiptEntry]) -> (page: ReceiptPage, read: [ReceiptEntry]?) {
    var page = ReceiptPage()
    for entry in entries { page.append(entry) }
    page.close()
    let read = page.text.withUnsafeBufferPointer {
      ReceiptEntry.read($0, first: page.first, day: page.day, at: page.moment)
    }
    return (page, read)
  }

  @Test("what is written is read back, for any numbers", arguments: 0..<200)
  func roundTrip(_ seed: UInt64) {
    var draw = SeededGenerator(seed: seed)
    let entries = (0..<Int64(1 + draw.next() % 16)).map { Self.entry(&draw, sequence: 40 + $0) }
    #expect(Self.page(entries).read == entries, "seed \(seed)")
  }

  @Test("changed bytes are read or refused", arguments: 0..<200)
  func damaged(_ seed: UInt64) {
    var draw = SeededGenerator(seed: seed)
    var text = Self.page((0..<3).map { Self.entry(&draw, sequence: 1 + $0) }).page.text
    for _ in 0..<1 + draw.next() % 4 {
      let place = Int(draw.next() % UInt64(text.count))
      switch draw.next() % 3 {
      case 0: text[place] = UInt8(truncatingIfNeeded: draw.next())
      case 1: text.removeSubrange(place...)
      default: text.insert(Array("[]\",0-n\\".utf8)[Int(draw.next() % 8)], at: place)
      }
      if text.isEmpty { break }
    }
    guard let read = text.withUnsafeBufferPointer({ ReceiptEntry.read($0, first: 1, day: 7, at: 0) }) else {
      return
    }
    // The result is consistent: written again it reads the same.
    var again = [UInt8(ascii: "[")]
    for entry in read {
      if again.count > 1 { again.append(UInt8(ascii: ",")) }
      entry.write(to: &again, at: 0)
    }
    again.append(UInt8(ascii: "]"))
    #expect(
      again.withUnsafeBufferPointer { ReceiptEntry.read($0, first: 1, day: 7, at: 0) } == read, "seed \(seed)"
    )
  }

  @Test(
    "other bytes are not a page",
    arguments: [
      "", "[", "[]]", "[[]]", "[[1]]", "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
      "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],]",
      "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]", "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\"a]]",
      "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,9223372036854775808]]",
      "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,99999999999999999999]]",
      "[[null,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]", "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,-]]",
      "[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,\"\\u01\"]]", "[[1 ,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]",
    ])
  func noPage(_ text: String) {
    var text = text
    #expect(text.withUTF8 { ReceiptEntry.read($0, first: 1, day: 1, at: 1) } == nil)
  }

  @Test("a block gives the receipt of each of its tickets")
  func block() throws {
    var block = TicketBlock()
    for ticket in 64..<Int64(128) {
      #expect(block[ticket] == 0)
      block.put(ticket * 1_000_000_007, for: ticket)
    }
    #expect(block[64] == 64_000_000_448 && block[126] == 126_000_000_882)
    let read = try #require(TicketBlock(text: block.text))
    #expect(read[100] == 100_000_000_700 && read[127] == 127_000_000_889)
    #expect(TicketBlock(text: Array(block.text.dropLast())) == nil)
    var text = block.text
    text[13 + 12] = UInt8(ascii: "x")
    let broken = try #require(TicketBlock(text: text))
    #expect(broken[64] == 64_000_000_448 && broken[65] == nil && broken[66] == 66_000_000_462)
    let keys = TicketBlock.keys(of: 3)
    #expect(keys.contains(TicketBlock.key(3, 1)) && keys.contains(TicketBlock.key(3, Limits.ticket)))
    #expect(!keys.contains(TicketBlock.key(2, Limits.ticket)) && !keys.contains(TicketBlock.key(4, 1)))
    #expect(TicketBlock.firstTicket(of: TicketBlock.key(3, 130)) == 128)
  }

  @Test("SQL sees a row for each receipt, and one ticket is found by its block")
  func view() throws {
    let branch = try StoreFixture(.sqlite)
    var receipts: [Receipt] = []
    for number in 0..<40 {
      let juice = Line(service: .juice, priority: Priority(5_000))
      let customer = try branch.arrive(
        number == 30 ? juice : .deposit, itemName: number == 30 ? "딸기 \"반\"" : "")
      var receipt = try branch.finish(customer, number % 7 == 3 ? .cancelled : .served)
      receipt.sequence = Int64(number) + 1
      receipts.append(receipt)
    }
    try branch.commit()
    let store = try #require(branch.store as? SQLiteStore)
    #expect(try store.receipts(day: nil, after: 0, limit: 99) == receipts)
    try store.database.execute("PRAGMA trusted_schema = ON", while: "testing")
    let rows = try store.database.withStatement("SELECT * FROM receipt", while: "testing") {
      row throws(StoreError) in
      try row.all { row -> ReceiptEntry in
        ReceiptEntry(
          sequence: row.integer(0), day: row.integer(1), ticket: row.integer(2), service: row.integer(3),
          priority: row.integer(4), outcome: row.integer(5), place: row.optional(6),
          generation: row.integer(7),
          pid: row.integer(8), attempts: row.integer(9), amount: row.integer(10), account: row.integer(11),
          debit: row.optional(12), credit: row.optional(13), issued: row.integer(14),
          started: row.optional(15),
          finished: row.integer(16), itemName: row.text(17))
      }
    }
    #expect(rows == receipts.map { ReceiptEntry($0, sequence: $0.sequence) })
    let found = try store.database.number(
      """
      SELECT CAST(substr(sequences, 1 + 13 * (23 & 63), 13) AS INTEGER) FROM ticket_block
      WHERE block = (1 << 34) | (23 >> 6)
      """, while: "testing")
    #expect(found == 23)
    #expect(try store.database.number("SELECT count(*) FROM receipt_page", while: "testing") == 3)
  }

  @Test(
    "an audit finds blocks and pages that do not belong together",
    arguments: [
      ("DELETE FROM ticket_block", MessageDetail.Kind.receiptNotFound),
      ("UPDATE ticket_block SET sequences = 'x'", .blockInvalid),
      ("UPDATE ticket_block SET sequences = replace(sequences, '0', 'x')", .blockInvalid),
      (
        "UPDATE ticket_block SET sequences = printf('%.13d', 2) || substr(sequences, 14)",
        .receiptOfOtherTicket
      ),
      (
        "UPDATE ticket_block SET sequences = substr(sequences, 1, 26) || printf('%.13d', 1) || substr(sequences, 40)",
        .ticketDuplicated
      ),
      ("UPDATE receipt_page SET entries = replace(entries, '],', ']')", .pageInvalid),
      ("UPDATE receipt_page SET entries = '[]'", .pageInvalid),
      ("UPDATE receipt_page SET first = 2", .receiptMissing),
      ("DELETE FROM receipt_page", .receiptOfOtherTicket),
      ("UPDATE receipt_page SET entries = json_set(entries, '$[0][1]', 9)", .receiptInvalid),
    ])
  func disagreement(_ script: String, _ kind: MessageDetail.Kind) throws {
    let branch = try StoreFixture(.sqlite)
    for _ in 0..<5 { try branch.finish(try branch.arrive(.deposit)) }
    try branch.commit()
    let store = try #require(branch.store as? SQLiteStore)
    try store.database.execute(script, while: "planting damage")
    let audit = try store.audit()
    #expect(audit.messageDetails.contains { $0.kind == kind }, "\(audit.problems)")
  }

  @Test("the rows of a former database become pages, each at its place, also if some are missing")
  func migration() throws {
    let scratch = Scratch()
    do {
      let database = try Database.open(path: scratch.database, schema: Schema.bank.ofVersion(6))
      try database.execute(
        """
        INSERT INTO day VALUES (1, 1000, 2000, 1, 700, 700, 0, 0, 0, 0, 0, '', '', ''),
          (2, 2000, NULL, 701, 300, 300, 0, 0, 0, 0, 0, '{}', '[300,0,0]', '[0,0,0]');
        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
        INSERT INTO receipt
        SELECT n, CASE WHEN n <= 700 THEN 1 ELSE 2 END, CASE WHEN n <= 700 THEN 701 - n ELSE n - 700 END, 1, 3,
          1, nullif(n % 3, 0), 5, 4242, 1, 1000 + n, n % 9, -1, n % 9,
          900 + n, nullif(950 + n, 953), 999 + n, CASE n WHEN 5 THEN 'a "b"' || char(10) END
        FROM number;
        DELETE FROM receipt WHERE sequence IN (40, 900);
        """, while: "testing")
      database.close()
    }
    let store = try SQLiteStore(path: scratch.database)
    let receipts = try store.receipts(day: nil, after: 0, limit: 2_000)
    #expect(receipts.map(\.sequence) == (1...1_000).filter { $0 != 40 && $0 != 900 })
    for receipt in receipts {
      let number = receipt.sequence
      #expect(receipt.ticket == (number <= 700 ? 701 - number : number - 700))
      #expect(receipt.amount == 1_000 + number && receipt.window.map { Int64($0.place) } ?? 0 == number % 3)
      #expect(
        receipt.issuedAt.milliseconds == 900 + number && receipt.finishedAt.milliseconds == 999 + number)
      #expect(receipt.startedAt?.milliseconds == (number == 3 ? nil : 950 + number))
      #expect(receipt.itemName == (number == 5 ? "a \"b\"\n" : ""))
      #expect(try store.receipt(day: receipt.day, ticket: receipt.ticket) == receipt)
    }
    #expect(try store.receipt(day: 1, ticket: 661) == nil && store.receipt(day: 3, ticket: 1) == nil)
    #expect(try store.receipts(day: 2, after: 750, limit: 3).map(\.ticket) == [51, 52, 53])
    _ = try store.load(now: WallTime(milliseconds: 1))
    let audit = try store.audit()
    #expect(audit.lost == 2 && audit.duplicated == 0, "\(audit.problems)")
    #expect(audit.messageDetails.count { $0.kind == .receiptMissing } == 2)
  }

  @Test("a waiting customer counts for today, however many days there were")
  func days() throws {
    let branch = try StoreFixture(.sqlite)
    for _ in 0..<3 {
      try branch.finish(try branch.arrive(.deposit))
      try branch.commit()
      branch.startNextDay()
      try branch.commit()
    }
    // Their numbers are those of tickets of the days before.
    try branch.arrive(.deposit)
    try branch.arrive(.loan)
    try branch.commit()
    let audit = try branch.store.audit()
    #expect(audit.problems == [] && audit.waiting == 2 && audit.served == 3)
  }
}
