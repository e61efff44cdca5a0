// Owns the two shapes in which receipts are kept: the page that is being filled, and the block of tickets that says which
// receipt is whose. It knows no database.
// Invariant: a page holds receipts of one day that were committed one after another; a ticket has one receipt or none.

import BankModel

/// Receipts of one day that were committed one behind the other, as one row.
///
/// A row each, keyed by its number, and an index of the tickets were two trees that every served customer changed. A page
/// is one row for sixteen of them.
struct ReceiptPage {
  /// Receipts in a page at most. So whoever looks for one reads no more than these; and four full pages fill one of SQLite's.
  static let longest = 16

  /// The number of the first receipt in it.
  private(set) var first: Int64 = 0
  private(set) var day: BusinessDay = 0
  /// When the first of them ended, in milliseconds since 1970.
  private(set) var moment: Int64 = 0
  private(set) var count = 0
  /// What is written so far: JSON, but for the bracket at the end.
  private(set) var text: [UInt8] = []

  /// Whether another receipt of a day has room in it.
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

  /// Nothing more comes.
  mutating func close() { text.append(UInt8(ascii: "]")) }

  mutating func forget() {
    count = 0
    text.removeAll(keepingCapacity: true)
  }
}

/// Which receipts the tickets of one block have: 64 numbers of as many digits each, so that one is changed where it stands;
/// zeros for none. `substr(sequences, 1 + 13 * (ticket & 63), 13)` is one of them.
struct TicketBlock {
  static let tickets: Int64 = 64
  static let digits = 13
  /// The highest number of a receipt that can be written.
  static let highest: Int64 = 9_999_999_999_999

  private(set) var text: [UInt8]

  /// A block in which nobody has a receipt.
  init() { text = Array(repeating: UInt8(ascii: "0"), count: Int(Self.tickets) * Self.digits) }

  /// A block as it stands on disk; nil where it has another length. Each place is read when it is asked for.
  init?(text: [UInt8]) {
    guard text.count == Int(Self.tickets) * Self.digits else { return nil }
    self.text = text
  }

  /// The key of the block in which a ticket stands: the day, and the ticket without its last six bits.
  static func key(_ day: BusinessDay, _ ticket: TicketNumber) -> Int64 { day << 34 | ticket >> 6 }
  /// The keys of all blocks of a day.
  static func keys(of day: BusinessDay) -> ClosedRange<Int64> { day << 34...(day << 34 | (1 << 34 - 1)) }

  /// The first ticket of a block.
  static func firstTicket(of key: Int64) -> TicketNumber { (key & (1 << 34 - 1)) << 6 }

  /// The number of the receipt that a ticket of this block has; 0 for none, nil where what stands there is no number.
  subscript(ticket: TicketNumber) -> Int64? {
    var number: Int64 = 0
    for byte in text[place(of: ticket)] {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
      number = number * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// Writes down which receipt a ticket has.
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
