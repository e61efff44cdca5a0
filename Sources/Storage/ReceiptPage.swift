// Two stored forms of receipts: the page that is being filled, and the block of tickets that maps them to receipts.
// Invariant: a page contains consecutive receipts of one day; a ticket has at most one receipt.

import BankModel

/// Consecutive receipts of one day, as one row.
///
/// One row per receipt and an index of the tickets would be two trees that every served customer changes. A page is one
/// row for sixteen customers.
struct ReceiptPage {
  /// Maximum number of receipts in a page. So a look-up reads no more than these, and four full pages fill one SQLite
  /// page.
  static let longest = 16

  /// Sequence number of the first receipt.
  private(set) var first: Int64 = 0
  private(set) var day: BusinessDay = 0
  /// End time of the first receipt, in milliseconds since 1970.
  private(set) var moment: Int64 = 0
  private(set) var count = 0
  /// JSON text so far, without the final bracket.
  private(set) var text: [UInt8] = []

  /// True if another receipt of this day fits.
  func hasRoom(on day: BusinessDay) -> Bool { count == 0 || (count < Self.longest && day == self.day) }

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

  /// Completes the text.
  mutating func close() { text.append(UInt8(ascii: "]")) }

  mutating func forget() {
    count = 0
    text.removeAll(keepingCapacity: true)
  }
}

/// Receipts of a block of 64 tickets: numbers of 13 digits each, so that one is changed in place; zeros for none.
/// `substr(sequences, 1 + 13 * (ticket & 63), 13)` is one of them.
struct TicketBlock {
  static let tickets: Int64 = 64
  static let digits = 13
  /// Highest sequence number that fits.
  static let highest: Int64 = 9_999_999_999_999

  private(set) var text: [UInt8]

  /// Creates a block without receipts.
  init() { text = Array(repeating: UInt8(ascii: "0"), count: Int(Self.tickets) * Self.digits) }

  /// Creates a block from stored text; nil if its length is wrong. The numbers are checked when they are read.
  init?(text: [UInt8]) {
    guard text.count == Int(Self.tickets) * Self.digits else { return nil }
    self.text = text
  }

  /// Key of the block of a ticket: the day, and the ticket without its last six bits.
  static func key(_ day: BusinessDay, _ ticket: TicketNumber) -> Int64 { day << 34 | ticket >> 6 }
  static func keys(of day: BusinessDay) -> ClosedRange<Int64> { day << 34...(day << 34 | (1 << 34 - 1)) }

  static func firstTicket(of key: Int64) -> TicketNumber { (key & (1 << 34 - 1)) << 6 }

  /// Sequence number of the receipt of a ticket in this block; 0 for none, nil if the stored text is not a number.
  subscript(ticket: TicketNumber) -> Int64? {
    var number: Int64 = 0
    for byte in text[place(of: ticket)] {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      number = number * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// Sets the receipt of a ticket.
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

  private func place(of ticket: TicketNumber) -> Range<Int> {
    let start = Int(ticket & (Self.tickets - 1)) * Self.digits
    return start..<start + Self.digits
  }
}
