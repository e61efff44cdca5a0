// Table of customers in flight at commands and workers, which the next coordinator reads after this one was killed. The
// memory outlives the process: one 64-bit word is written when a customer is assigned and when its attempt ends,
// without waiting for a disk.
// Invariants: a customer is in the table before its worker receives it, unless its bucket is full. Contents for another
// database, another day or an earlier boot of the machine are ignored.

import BankModel
import Posix
import QueueCore

package final class InFlightTable {
  /// Power of two. Consecutive ticket numbers are in different buckets.
  private static let buckets = 1_024
  private static let ways = 8
  private static let header = 8
  /// Size in words of 64 bits.
  package static let wordCount = header + buckets * ways

  /// Indices of the words that describe the table.
  private enum Head {
    static let format = 0, boot = 1, bankID = 2, day = 3, isClosed = 4
  }
  private static let format: UInt64 = 0x6261_6e6b_6861_6e01

  /// One customer: the ticket in the low bits, the number of coordinator crashes while it was in flight, and
  /// two flags.
  private struct Entry {
    static let ticketMask: UInt64 = 1 << 40 - 1
    static let crashCountLimit = 255
    var word: UInt64

    var ticket: TicketNumber { TicketNumber(word & Self.ticketMask) }
    var coordinatorCrashes: Int {
      get { Int(word >> 40 & 0xff) }
      set { word = word & ~(0xff << 40) | UInt64(min(newValue, Self.crashCountLimit)) << 40 }
    }
    /// True while a worker holds the customer.
    var isInFlight: Bool {
      get { word >> 48 & 1 == 1 }
      set { word = newValue ? word | 1 << 48 : word & ~(1 << 48) }
    }
    /// True from a crash until the queue has recorded the attempt that was lost in the crash.
    var isUnrecorded: Bool {
      get { word >> 49 & 1 == 1 }
      set { word = newValue ? word | 1 << 49 : word & ~(1 << 49) }
    }
  }

  private let words: UnsafeMutableBufferPointer<UInt64>
  /// Digest of the boot's identifier; 0 if it is unknown.
  private let boot: UInt64
  private let owner: AnyObject?
  /// True if the simulated process is dead, so that its writes have no effect. Simulation only.
  package var isDead: () -> Bool = { false }
  /// Number of customers in the table; searches are skipped while it is zero.
  private var count = 0

  /// Table in memory that its owner provides.
  ///
  /// - Parameters:
  ///   - words: ``wordCount`` words, all zero for a new table.
  ///   - boot: Identifies this boot of the machine; nil if unknown.
  ///   - owner: Retained while the words are in use.
  package init(_ words: UnsafeMutableBufferPointer<UInt64>, boot: [UInt8]?, owner: AnyObject? = nil) {
    precondition(words.count == Self.wordCount, "a table has room for its words")
    (self.words, self.owner) = (words, owner)
    self.boot = Self.digest(boot ?? [])
  }

  convenience init(at path: String) throws(SystemError) {
    let mapped = try MemoryMappedFile(path: path, count: Self.wordCount)
    self.init(mapped.words, boot: Self.boot, owner: mapped)
  }

  /// Creates the file of the table again, with its contents. Does nothing for a table without a file.
  func renew(at path: String) throws(SystemError) { try (owner as? MemoryMappedFile)?.move(to: path) }

  /// Identifier of this boot of the machine; nil if the kernel does not provide it. See `random(4)`.
  private static var boot: [UInt8]? {
    try? FileDescriptor.open("/proc/sys/kernel/random/boot_id", .readOnly).readAll(limit: 64)
  }

  var isEmpty: Bool { count == 0 }
  /// True if the coordinator of this table has exited cleanly.
  package var isClosed: Bool { words[Head.isClosed] == 1 }

  // MARK: - Start and end

  /// Adopts the table of the previous coordinator, or clears it if it is of another bank, day or boot. Returns the
  /// customers that were in flight when a coordinator crashed.
  package func begin(bankID: BankID, day: BusinessDay) -> [TicketNumber: CoordinatorCrashes] {
    let isKnown =
      boot != 0 && words[Head.format] == Self.format && words[Head.boot] == boot
      && words[Head.bankID] == UInt64(bitPattern: bankID.number) && words[Head.day] == UInt64(bitPattern: day)
    guard !isDead() else { return [:] }
    if !isKnown { clear() }
    let wasClosed = isClosed
    (words[Head.format], words[Head.boot]) = (Self.format, boot)
    (words[Head.bankID], words[Head.day]) = (UInt64(bitPattern: bankID.number), UInt64(bitPattern: day))
    words[Head.isClosed] = 0
    return takeOver(wasClosed: wasClosed)
  }

  /// Counts a crash for each customer that was in flight under the previous coordinator. Returns all customers with
  /// such crashes. `wasClosed` is true if that coordinator exited cleanly.
  private func takeOver(wasClosed: Bool) -> [TicketNumber: CoordinatorCrashes] {
    let positions = (Self.header..<Self.wordCount).filter { words[$0] != 0 }
    // A crash with no customer in flight has another cause, which may also explain earlier crashes. So the counts
    // are reset: to 1 for a customer whose lost attempt is not recorded yet, and to 0 for others.
    let noCustomerAtFault = !wasClosed && !positions.contains { Entry(word: words[$0]).isInFlight }
    var coordinatorCrashes: [TicketNumber: CoordinatorCrashes] = [:]
    count = 0
    for position in positions {
      var entry = Entry(word: words[position])
      if entry.isInFlight {
        (entry.isInFlight, entry.isUnrecorded) = (false, true)
        entry.coordinatorCrashes += 1
      } else if noCustomerAtFault {
        entry.coordinatorCrashes = entry.isUnrecorded ? 1 : 0
      }
      guard entry.coordinatorCrashes > 0 else {
        words[position] = 0
        continue
      }
      words[position] = entry.word
      count += 1
      coordinatorCrashes[entry.ticket] = CoordinatorCrashes(
        count: entry.coordinatorCrashes, isUnrecorded: entry.isUnrecorded)
    }
    return coordinatorCrashes
  }

  /// Marks a clean exit: no customer is in flight.
  package func close() {
    guard !isDead() else { return }
    markAllReturned()
    words[Head.isClosed] = 1
  }

  /// Starts another day, whose ticket numbers start again.
  package func begin(day: BusinessDay) {
    guard !isDead() else { return }
    clear()
    words[Head.day] = UInt64(bitPattern: day)
  }

  private func clear() {
    for position in Self.header..<Self.wordCount { words[position] = 0 }
    count = 0
  }

  // MARK: - Customers

  /// Records that a customer is assigned.
  package func markAssigned(_ ticket: TicketNumber) {
    guard !isDead() else { return }
    let bucket = bucket(of: ticket)
    var free: Int?
    for position in bucket {
      let entry = Entry(word: words[position])
      if entry.word == 0 {
        if free == nil { free = position }
      } else if entry.ticket == ticket {
        return change(position) { $0.isInFlight = true }
      }
    }
    guard let free else { return }
    var entry = Entry(word: UInt64(ticket) & Entry.ticketMask)
    entry.isInFlight = true
    words[free] = entry.word
    count += 1
  }

  /// Records that an attempt has ended, so no worker holds the customer.
  package func markReturned(_ ticket: TicketNumber) {
    guard count > 0, let position = position(of: ticket), !isDead() else { return }
    change(position) { ($0.isInFlight, $0.isUnrecorded) = (false, false) }
    if Entry(word: words[position]).coordinatorCrashes == 0 { free(position) }
  }

  /// Removes a customer that has a receipt or is a dead letter.
  package func forget(_ ticket: TicketNumber) {
    guard count > 0, let position = position(of: ticket), !isDead() else { return }
    free(position)
  }

  /// Records that no worker holds any customer.
  package func markAllReturned() {
    guard !isDead() else { return }
    for position in Self.header..<Self.wordCount where words[position] != 0 {
      change(position) { $0.isInFlight = false }
      let entry = Entry(word: words[position])
      if entry.coordinatorCrashes == 0 { free(position) }
    }
  }

  private func change(_ position: Int, _ body: (inout Entry) -> Void) {
    var entry = Entry(word: words[position])
    body(&entry)
    words[position] = entry.word
  }

  private func free(_ position: Int) {
    words[position] = 0
    count -= 1
  }

  /// Indices of the words that may contain a customer.
  private func bucket(of ticket: TicketNumber) -> Range<Int> {
    let first = Self.header + Int(truncatingIfNeeded: ticket) & (Self.buckets - 1) * Self.ways
    return first..<first + Self.ways
  }

  /// Index of the word with a customer; nil if the customer is not in the table.
  private func position(of ticket: TicketNumber) -> Int? {
    bucket(of: ticket).first { words[$0] != 0 && Entry(word: words[$0]).ticket == ticket }
  }

  /// FNV-1a hash; it distinguishes boots of the machine and is not a security measure.
  private static func digest(_ bytes: [UInt8]) -> UInt64 {
    guard !bytes.isEmpty else { return 0 }
    return bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension QueueDriver {
  /// Updates the table for a staged change.
  func updateInFlightTable(_ change: StoreChange) {
    guard let inFlightTable else { return }
    if inFlightTable.isEmpty {
      if case .cancelAllCustomers(let day, _) = change { inFlightTable.begin(day: day + 1) }
      return
    }
    switch change {
    case .finish(let customer, _, _), .bury(let customer): inFlightTable.forget(customer.ticket)
    case .record(let attempt): inFlightTable.markReturned(attempt.ticket)
    case .cancelAllCustomers(let day, _): inFlightTable.begin(day: day + 1)
    default: break
    }
  }
}
