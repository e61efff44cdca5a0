// A whole list of customers, checked from the first line to the last before any part is sent.
// Invariant: passes over the same text with the same seed give the same customers.
// Errors: `Refusal`; for an invalid line with its number.
import BankModel
import JSON
import Posix
import Wire

/// The customers of `enqueue --from`, one for each line of a file.
final class CustomerList {
  /// Reason why a list is refused.
  enum Refusal: Error, Sendable, Equatable {
    case unreadable(SystemError)
    case line(Int64, CustomerRecord.Fault)
    case tooMany
    case empty
  }

  let count: Int64
  /// True if every customer has a key, so that a repeated list adds no customer twice.
  let isRepeatable: Bool
  /// First line of each service that may be unknown to the bank, up to the maximum number of services.
  private(set) var firstLines: [ServiceName: Int64] = [:]
  private let file: LineFile
  private let seed: UInt64

  /// Reads and checks the whole list.
  init(_ file: LineFile, seed: UInt64) throws(Refusal) {
    var count: Int64 = 0
    var keyed: Int64 = 0
    var firstLines: [ServiceName: Int64] = [:]
    try Self.walk(file, refusing: { $0 }) { number, line throws(Refusal) in
      count += 1
      if let service = line.service, !service.movesMoney, firstLines.count < ServiceDirectory.configurable,
        firstLines[service] == nil
      {
        firstLines[service] = number
      }
      if line.key != nil { keyed += 1 }
      guard count <= Limits.customersPerCommand else { throw .tooMany }
    }
    guard count > 0 else { throw .empty }
    self.count = count
    self.firstLines = firstLines
    isRepeatable = keyed == count
    self.file = file
    self.seed = seed
  }

  /// Passes the customers to `body` in parts within the limits of a request. The last part is marked as the last, even
  /// if it is empty.
  /// - Parameter failure: Returns the error to throw if the text has changed since it was checked.
  func forEachPart<Failure: Error>(
    refusing failure: (Refusal) -> Failure, _ body: (EnqueueList) throws(Failure) -> Void
  ) throws(Failure) {
    var draw = CustomerGenerator(service: nil, priority: .regular, amount: nil, account: nil, seed: seed)
    var part: [EnqueueEntry] = []
    part.reserveCapacity(EnqueueList.partLimit)
    var weight = 0
    try Self.walk(file, refusing: failure) { _, line throws(Failure) in
      let entry = Self.entry(line, &draw)
      if !EnqueueList.hasRoom(for: entry, beside: part.count, weighing: weight) {
        try body(EnqueueList(entries: part, isLast: false))
        part.removeAll(keepingCapacity: true)
        weight = 0
      }
      part.append(entry)
      weight += entry.weight
    }
    try body(EnqueueList(entries: part, isLast: true))
  }

  private static let branch = ServiceDirectory()

  /// The customer of one line as part of a request; missing values are drawn at random or 0.
  private static func entry(_ line: CustomerRecord, _ draw: inout CustomerGenerator) -> EnqueueEntry {
    var entry: EnqueueEntry
    if let service = line.service, !service.movesMoney {
      entry = EnqueueEntry(
        service: service, priority: line.priority, amount: line.amount ?? 0, account: line.account ?? 0,
        key: line.key)
    } else {
      draw.service = line.service.flatMap { branch[$0] }
      draw.priority = line.priority
      draw.amount = line.amount
      draw.account = line.account
      let order = draw.next()
      entry = EnqueueEntry(
        service: branch[order.service], priority: order.priority, amount: order.amount,
        account: order.account, key: line.key)
    }
    if line.key != nil { entry.drawn = line.drawn }
    (entry.payload, entry.dueAt, entry.delay) = (line.payload, line.later?.dueAt, line.later?.delay)
    return entry
  }

  /// Passes every line that is not blank to `body`, parsed and with its number.
  private static func walk<Failure: Error>(
    _ file: LineFile, refusing failure: (Refusal) -> Failure,
    _ body: (Int64, CustomerRecord) throws(Failure) -> Void
  ) throws(Failure) {
    try file.forEachLine(refusing: { failure(.unreadable($0)) }) { number, line throws(Failure) in
      guard case .bytes(let bytes) = line else {
        throw failure(.line(number, .tooLong(limit: LineFile.limit)))
      }
      guard !bytes.allSatisfy(JSONScanner.isSpace) else { return }
      let customer: CustomerRecord
      do throws(CustomerRecord.Fault) { customer = try CustomerRecord(bytes) } catch {
        throw failure(.line(number, error))
      }
      try body(number, customer)
    }
  }
}
