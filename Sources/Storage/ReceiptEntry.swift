// Text form of a receipt in its page: a JSON array of numbers and nulls, and at its end the name of the ordered item if
// the receipt has one. The text is readable with sqlite3.
// Invariant: written text is read back unchanged. Text that is not such an array is rejected.

import BankModel
import Time

/// One receipt as a ``ReceiptPage`` stores it: its numbers, and the name of the ordered item.
struct ReceiptEntry: Equatable {
  var sequence: Int64
  var day: BusinessDay
  var ticket: TicketNumber
  /// Number of the service, and code of its priority.
  var service, priority: Int64
  var outcome: Int64
  /// Number of the window within its service; nil if the customer was at no window.
  var place: Int64?
  var generation, pid, attempts: Int64
  var amount, account: Int64
  /// Codes of accounts; nil if the receipt has no transfer.
  var debit, credit: Int64?
  /// Milliseconds since 1970.
  var issued: Int64
  var started: Int64?
  var finished: Int64
  var itemName = ""

  /// Number of values in an entry. The name of an item may follow them.
  static let numbers = 15
}

extension ReceiptEntry {
  init(_ receipt: Receipt, sequence: Int64) {
    let transfer = receipt.transfer
    self.init(
      sequence: sequence, day: receipt.day, ticket: receipt.ticket, service: Int64(receipt.service.number),
      priority: receipt.priority.code, outcome: Int64(receipt.outcome.rawValue),
      place: receipt.window.map { Int64($0.place) }, generation: Int64(receipt.generation),
      pid: Int64(receipt.pid), attempts: Int64(receipt.attempts), amount: receipt.amount,
      account: receipt.account, debit: transfer?.debit.code, credit: transfer?.credit.code,
      issued: receipt.issuedAt.milliseconds, started: receipt.startedAt?.milliseconds,
      finished: receipt.finishedAt.milliseconds, itemName: receipt.itemName)
  }

  /// Appends the entry to the text of a page with the base time `moment`.
  ///
  /// - Parameter moment: base time of the page. Times are stored as differences, which shortens the text.
  func write(to text: inout [UInt8], at moment: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.numbers * 21) { room in
      // The numbers are written from the last digit to the first, because division yields the digits in this
      // order.
      var digits = ReverseDecimalWriter(room: room)
      digits.prepend(finished &- moment)
      digits.prepend(started.map { finished &- $0 })
      digits.prepend(finished &- issued)
      digits.prepend(credit)
      digits.prepend(debit)
      digits.prepend(account)
      digits.prepend(amount)
      digits.prepend(attempts)
      digits.prepend(pid)
      digits.prepend(generation)
      digits.prepend(place)
      digits.prepend(outcome)
      digits.prepend(priority)
      digits.prepend(service)
      digits.prepend(ticket)
      // The bracket replaces the comma before the first number.
      digits.room[digits.start] = UInt8(ascii: "[")
      text.append(contentsOf: UnsafeBufferPointer(rebasing: room[digits.start...]))
    }
    if !itemName.isEmpty { Self.append(itemName, to: &text) }
    text.append(UInt8(ascii: "]"))
  }

  /// Appends a comma and the name of an item as a JSON string.
  private static func append(_ itemName: String, to text: inout [UInt8]) {
    var itemName = itemName
    text.append(UInt8(ascii: ","))
    text.append(UInt8(ascii: "\""))
    itemName.withUTF8 { bytes in
      // Most names need no escaping.
      if !needsEscaping(bytes) { return text.append(contentsOf: bytes) }
      for byte in bytes { append(byte, to: &text) }
    }
    text.append(UInt8(ascii: "\""))
  }

  /// True for a byte that must be escaped in a JSON string. RFC 8259, section 7
  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func needsEscaping(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    ByteScanner.containsByte(
      in: text,
      { $0.hasByte(below: 0x20) || $0.hasByte(UInt8(ascii: "\"")) || $0.hasByte(UInt8(ascii: "\\")) },
      or: isEscaped)
  }

  /// Appends a byte of a JSON string, escaped if necessary.
  private static func append(_ byte: UInt8, to text: inout [UInt8]) {
    if byte < 0x20 {
      text.append(contentsOf: "\\u00".utf8)
      text.append(hexadecimal[Int(byte >> 4)])
      return text.append(hexadecimal[Int(byte & 15)])
    }
    if isEscaped(byte) { text.append(UInt8(ascii: "\\")) }
    text.append(byte)
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)

  /// The receipts in the text of a page; nil if the text is invalid.
  ///
  /// - Parameters:
  ///   - first: sequence number of the first receipt.
  ///   - moment: base time of the page.
  static func read(
    _ text: UnsafeBufferPointer<UInt8>, first: Int64, day: BusinessDay, at moment: Int64
  ) -> [ReceiptEntry]? {
    var reader = PageReader(text: text)
    var entries: [ReceiptEntry] = []
    entries.reserveCapacity(ReceiptPage.longest)
    guard reader.take(UInt8(ascii: "[")) else { return nil }
    if reader.take(UInt8(ascii: "]")) { return reader.isAtEnd ? entries : nil }
    repeat {
      let (sequence, isTooHigh) = first.addingReportingOverflow(Int64(entries.count))
      guard !isTooHigh, let entry = reader.entry(sequence, day, at: moment) else { return nil }
      entries.append(entry)
    } while reader.take(UInt8(ascii: ","))
    return reader.take(UInt8(ascii: "]")) && reader.isAtEnd ? entries : nil
  }
}

/// Writes numbers from the end of a buffer towards its start, each with a comma before it.
private struct ReverseDecimalWriter {
  /// The buffer, which is filled from its end.
  let room: UnsafeMutableBufferPointer<UInt8>
  /// Index of the first written byte.
  private(set) var start: Int

  init(room: UnsafeMutableBufferPointer<UInt8>) { (self.room, start) = (room, room.count) }

  /// Writes a comma and a number before the bytes so far.
  mutating func prepend(_ number: Int64) {
    // Most numbers of a receipt are codes and counts with one digit.
    if 0..<10 ~= number {
      put(digit: UInt64(truncatingIfNeeded: number))
      return put(UInt8(ascii: ","))
    }
    var rest = number.magnitude
    // Each division depends on the previous one, so a step writes two digits.
    while rest >= 10 {
      let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
      let (tens, ones) = pair.quotientAndRemainder(dividingBy: 10)
      put(digit: ones)
      put(digit: tens)
      rest = quotient
    }
    if rest > 0 || number == 0 { put(digit: rest) }
    if number < 0 { put(UInt8(ascii: "-")) }
    put(UInt8(ascii: ","))
  }

  private mutating func put(digit: UInt64) { put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)) }

  /// Writes a comma, and a number or `null`, before the bytes so far.
  mutating func prepend(_ number: Int64?) {
    if let number { return prepend(number) }
    for byte in [UInt8(ascii: "l"), UInt8(ascii: "l"), UInt8(ascii: "u"), UInt8(ascii: "n")] { put(byte) }
    put(UInt8(ascii: ","))
  }

  private mutating func put(_ byte: UInt8) {
    start -= 1
    room[start] = byte
  }
}

/// Parser of the text that ``ReceiptEntry`` writes, and of the text that SQLite wrote when it migrated an older
/// database.
private struct PageReader {
  let text: UnsafeBufferPointer<UInt8>
  private var place = 0
  /// True after an invalid byte was read.
  private var isBroken = false

  init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

  var isAtEnd: Bool { place == text.count }

  /// Skips the next byte and returns true, if it is this byte.
  mutating func take(_ byte: UInt8) -> Bool {
    guard place < text.count, text[place] == byte else { return false }
    place += 1
    return true
  }

  /// Reads one receipt; nil if the text is invalid.
  mutating func entry(_ sequence: Int64, _ day: BusinessDay, at moment: Int64) -> ReceiptEntry? {
    guard take(UInt8(ascii: "[")) else { return nil }
    let (ticket, service, priority, outcome) = (first(), next(), next(), next())
    let (window, generation, pid, attempts) = (optional(), next(), next(), next())
    let (amount, account, debit, credit) = (next(), next(), optional(), optional())
    let (waited, worked, finished) = (next(), optional(), moment &+ next())
    let itemName = take(UInt8(ascii: ",")) ? article() : ""
    guard take(UInt8(ascii: "]")), !isBroken else { return nil }
    return ReceiptEntry(
      sequence: sequence, day: day, ticket: ticket, service: service, priority: priority, outcome: outcome,
      place: window, generation: generation, pid: pid, attempts: attempts, amount: amount, account: account,
      debit: debit, credit: credit, issued: finished &- waited, started: worked.map { finished &- $0 },
      finished: finished, itemName: itemName)
  }

  /// Reads a comma and a number.
  private mutating func next() -> Int64 {
    if !take(UInt8(ascii: ",")) { isBroken = true }
    return first()
  }

  /// Reads a comma, and a number or `null`.
  private mutating func optional() -> Int64? {
    if !take(UInt8(ascii: ",")) { isBroken = true }
    guard take(UInt8(ascii: "n")) else { return first() }
    if !(take(UInt8(ascii: "u")) && take(UInt8(ascii: "l")) && take(UInt8(ascii: "l"))) { isBroken = true }
    return nil
  }

  /// Reads a number without a comma before it.
  private mutating func first() -> Int64 {
    let isNegative = take(UInt8(ascii: "-"))
    let start = place
    var magnitude: UInt64 = 0
    while place < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[place] {
      // Numbers of at most nineteen digits fit. Longer numbers are rejected below.
      magnitude = magnitude &* 10 &+ UInt64(text[place] &- UInt8(ascii: "0"))
      place += 1
    }
    let isTooLarge = place - start > 19 || magnitude > UInt64(Int64.max) + (isNegative ? 1 : 0)
    if place == start || isTooLarge {
      isBroken = true
      return 0
    }
    return isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
  }

  /// Reads the name of an item, which is a JSON string.
  private mutating func article() -> String {
    var bytes: [UInt8] = []
    guard take(UInt8(ascii: "\"")) else { return broken() }
    while place < text.count {
      let byte = text[place]
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let meant = escaped() else { return broken() }
        bytes.append(meant)
      case 0..<0x20: return broken()
      default: bytes.append(byte)
      }
    }
    return broken()
  }

  /// Reads the rest of an escape sequence after its backslash; nil if it is invalid.
  private mutating func escaped() -> UInt8? {
    guard place < text.count else { return nil }
    let byte = text[place]
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
    // Escapes that SQLite wrote when it migrated an older database.
    case UInt8(ascii: "b"): return 8
    case UInt8(ascii: "t"): return 9
    case UInt8(ascii: "n"): return 10
    case UInt8(ascii: "f"): return 12
    case UInt8(ascii: "r"): return 13
    default: break
    }
    guard byte == UInt8(ascii: "u"), place + 4 <= text.count else { return nil }
    let digits = String(decoding: text[place..<place + 4], as: UTF8.self)
    place += 4
    return digits.first == "+" ? nil : UInt8(digits, radix: 16)
  }

  /// Marks the text as invalid. Returns an empty name.
  private mutating func broken() -> String {
    isBroken = true
    return ""
  }
}
