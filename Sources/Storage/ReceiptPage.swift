// Two stored forms: the page of receipts that is being filled, and the block of tickets that contains the
// sequence number of each ticket's receipt.
// Invariant: a page contains consecutive receipts of one day, and a ticket has at most one receipt.

import BankModel

/// Consecutive receipts of one day, stored as one row.
///
/// With one row per receipt and an index of the tickets, a served customer would change two trees.
struct ReceiptPage {
  /// Maximum number of receipts in a page. A look-up parses no more than these.
  static let longest = 16

  /// Sequence number of the first receipt.
  private(set) var first: Int64 = 0
  private(set) var day: BusinessDay = 0
  /// End time of the first receipt in milliseconds since 1970. It is the base time of the page.
  private(set) var moment: Int64 = 0
  private(set) var count = 0
  /// JSON text of the receipts. ``close()`` adds the final bracket.
  private(set) var text: [UInt8] = []

  /// True if a receipt of this day fits into the page.
  func hasRoom(on day: BusinessDay) -> Bool { count == 0 || (count < Self.longest && day == self.day) }

  /// Adds the next receipt. The page must have room.
  mutating func append(_ entry: ReceiptEntry) {
    precondition(hasRoom(on: entry.day), "A page of receipts is full.")
    if count == 0 {
      (first, day, moment) = (entry.sequence, entry.day, entry.finished)
      text.append(UInt8(ascii: "["))
    } else {
      text.append(UInt8(ascii: ","))
    }
    entry.write(to: &text, at: moment)
    count += 1
  }

  /// Completes the text with the final bracket.
  mutating func close() { text.append(UInt8(ascii: "]")) }

  mutating func forget() {
    count = 0
    text.removeAll(keepingCapacity: true)
  }
}

/// Sequence numbers of the receipts of 64 tickets. Each number has 13 digits, so that one number can be changed
/// in place, and is 0 if the ticket has no receipt. In SQL, `substr(sequences, 1 + 13 * (ticket & 63), 13)`
/// returns the number of a ticket.
struct TicketBlock {
  /// Number of tickets in a block.
  static let tickets: Int64 = 64
  /// Number of digits of each sequence number.
  static let digits = 13
  /// Highest sequence number that fits into the digits.
  static let highest: Int64 = 9_999_999_999_999

  private(set) var text: [UInt8]

  init() { text = Array(repeating: UInt8(ascii: "0"), count: Int(Self.tickets) * Self.digits) }

  /// Makes a block from stored text, or nil if its length is wrong. The digits are checked when a number is
  /// read.
  init?(text: [UInt8]) {
    guard text.count == Int(Self.tickets) * Self.digits else { return nil }
    self.text = text
  }

  /// Key of the block that contains a ticket: the day, and the ticket without its last six bits.
  static func key(_ day: BusinessDay, _ ticket: TicketNumber) -> Int64 { day << 34 | ticket >> 6 }
  static func keys(of day: BusinessDay) -> ClosedRange<Int64> { day << 34...(day << 34 | (1 << 34 - 1)) }

  /// Lowest ticket of the block with this key.
  static func firstTicket(of key: Int64) -> TicketNumber { (key & (1 << 34 - 1)) << 6 }

  /// Sequence number of the receipt of a ticket in this block; 0 for none, nil if the stored digits are
  /// invalid.
  subscript(ticket: TicketNumber) -> Int64? {
    var number: Int64 = 0
    for byte in text[place(of: ticket)] {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      number = number * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return number
  }

  mutating func put(_ sequence: Int64, for ticket: TicketNumber) {
    precondition(1...Self.highest ~= sequence, "A receipt's number is out of range.")
    let digits = place(of: ticket)
    text.withUnsafeMutableBufferPointer { text in
      var rest = sequence.magnitude
      for place in digits.reversed() {
        text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
    }
  }

  /// Range in ``text`` of the digits of the sequence number of a ticket's receipt.
  private func place(of ticket: TicketNumber) -> Range<Int> {
    let start = Int(ticket & (Self.tickets - 1)) * Self.digits
    return start..<start + Self.digits
  }
}
