// Spool of a list of customers that arrives in parts: the last customers are in memory, the others in an unnamed file.
// An entry is checked before it is stored.
// Invariant: all parts except the last are full, by count or by weight, regardless of the size of the received parts.

import BankModel
import Glibc
import Posix
import QueueCore
import Time
import Wire

final class EnqueueListSpool {
  /// Number of parts from the start that are checked for repeated keys.
  static let checkedParts = 32

  /// Number of the client's request.
  let number: UInt32
  private(set) var count: Int64 = 0
  /// Reason for refusing the list.
  private(set) var failure: Failure?
  /// True if at least one customer has a key.
  private(set) var hasKeys = false
  /// True if, in a list with several parts, a key of the first ``checkedParts`` parts may repeat: another entry has a
  /// key with the same hash.
  private(set) var mayRepeat = false

  let partLimit: Int
  private let maxPayload: Int64
  private let share: PayloadReservation
  private let readsPayload: (Service) -> Bool
  private let directory: String
  /// Entries that are not in the file.
  private var unspooled: [EnqueueEntry] = []
  /// File of the stored parts; nil before the first one.
  private var file: FileDescriptor?
  /// End offset of each part in the file.
  private var ends: [Int64] = []
  /// Number of entries of each part in the file.
  private var counts: [Int] = []
  /// Sum of the weights of the entries in memory; see `EnqueueList`.
  private var unspooledWeight = 0
  /// Hashes of the keys in the first ``checkedParts`` parts.
  private var checkedKeyHashes: Set<Int> = []

  /// - Parameters:
  ///   - share: Counter for the payloads in memory.
  ///   - readsPayload: False for a service whose tellers read no payload; an entry with one is refused.
  init(
    number: UInt32, directory: String, partLimit: Int = EnqueueList.partLimit, maxPayload: Int64,
    share: PayloadReservation, readsPayload: @escaping (Service) -> Bool
  ) {
    (self.maxPayload, self.share, self.readsPayload) = (maxPayload, share, readsPayload)
    self.number = number
    self.directory = directory
    self.partLimit = partLimit
  }

  /// Number of parts, including the last one, which is in memory.
  var parts: Int { ends.count + 1 }
  var hasSeveralParts: Bool { !ends.isEmpty }

  /// Checks received entries and adds them. If one is invalid, ``failure`` is set and the list is discarded.
  /// - Parameters:
  ///   - services: Services that accept customers.
  ///   - policy: Rules that define which services post amounts.
  ///   - now: Wall-clock time.
  func append(
    _ entries: [EnqueueEntry], for services: OfferedServices, by policy: QueuePolicy, at now: WallTime
  ) {
    guard failure == nil else { return }
    let before = count
    count += Int64(entries.count)
    guard entries.count <= EnqueueList.partLimit else {
      return refuse(MessageDetail(.partTooLong, EnqueueList.partLimit, entries.count))
    }
    guard count <= BankModel.Limits.customersPerCommand else {
      return refuse(MessageDetail(.customersAtMost, BankModel.Limits.customersPerCommand))
    }
    for (index, entry) in entries.enumerated() {
      let position = before + Int64(index) + 1
      if let reason = entry.fault(maxPayload: maxPayload, now: now, position: position) {
        return refuse(reason)
      }
      let service: Service
      do throws(Failure) { service = try services.service(entry.service) } catch { return give(up: error) }
      if entry.payload != nil, !readsPayload(service) {
        return refuse(MessageDetail(.payloadOfEntryNotAllowed, entry.service.text, position))
      }
      let rule = policy[service.index].postingRule
      if let reason = moneyFault(
        entry.service, rule, amount: entry.amount, account: entry.account, position: position)
      {
        return refuse(reason)
      }
      if entry.key != nil { hasKeys = true }
    }
    for entry in entries {
      appendEntry(entry)
      guard failure == nil else { return }
    }
    let held = unspooled.reduce(0) { $0 + ($1.payload?.count ?? 0) }
    guard share.hasRoom(for: held) else { return give(up: share.refusal(of: held)) }
    share.bytes = held
  }

  /// Adds one entry, and first writes the entries in memory to the file if their part has no room for it.
  private func appendEntry(_ entry: EnqueueEntry) {
    if !EnqueueList.hasRoom(for: entry, beside: unspooled.count, weighing: unspooledWeight, limit: partLimit)
    {
      watch(unspooled)
      write(unspooled)
      unspooled.removeAll(keepingCapacity: true)
      unspooledWeight = 0
    }
    unspooled.append(entry)
    unspooledWeight += entry.weight
  }

  func count(ofPart part: Int) -> Int { part < counts.count ? counts[part] : unspooled.count }

  /// Records that the list is complete.
  func end() {
    if hasSeveralParts { watch(unspooled) }
    checkedKeyHashes = []
  }

  /// Keys of the entries in memory, which are all keys of a list with one part.
  var unspooledKeys: [String] { unspooled.compactMap(\.key) }
  /// True if an entry in memory has this key.
  func hasUnspooledKey(_ key: String) -> Bool {
    unspooled.contains { $0.key?.utf8.elementsEqual(key.utf8) ?? false }
  }

  /// Hash of a key's bytes; different keys may collide.
  static func hash(of key: String) -> Int {
    var hasher = Hasher()
    for byte in key.utf8 { hasher.combine(byte) }
    return hasher.finalize()
  }

  /// Sets `mayRepeat` if a key of the first ``checkedParts`` parts may occur twice in the list.
  private func watch(_ entries: [EnqueueEntry]) {
    guard hasKeys, !mayRepeat else { return }
    for entry in entries {
      guard let key = entry.key else { continue }
      let hash = Self.hash(of: key)
      guard ends.count < Self.checkedParts else {
        mayRepeat = mayRepeat || checkedKeyHashes.contains(hash)
        continue
      }
      if !checkedKeyHashes.insert(hash).inserted { mayRepeat = true }
    }
    if mayRepeat { checkedKeyHashes = [] }
  }

  /// Discards the list because of an invalid entry.
  private func refuse(_ reason: MessageDetail) { give(up: Failure(.badRequest, messageDetail: reason)) }

  private func give(up failure: Failure) {
    self.failure = failure
    unspooled = []
    share.bytes = 0
    checkedKeyHashes = []
    file = nil
  }

  /// Creates a file and removes its name, so that the kernel deletes the file when it is closed.
  private static func unnamedFile(in directory: String) throws(SystemError) -> FileDescriptor {
    let path = Paths.join(directory, "list-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())")
    let file = try FileDescriptor.open(path, [.readWrite, .create, .exclusive], mode: 0o600)
    try? Directory.unlink(path)
    return file
  }

  /// Appends a full part to the file. If that fails, the list is discarded.
  private func write(_ entries: [EnqueueEntry]) {
    do throws(SystemError) {
      if file == nil { file = try Self.unnamedFile(in: directory) }
      var bytes: [UInt8] = []
      do throws(FrameEncodingError) {
        try FrameEncoder().append(
          EnqueueList(entries: entries, isLast: false), to: &bytes, limit: FrameLimits.control)
      } catch { return refuse(MessageDetail(quoting: error.description)) }
      try file!.writeAll(bytes)
      ends.append((ends.last ?? 0) + Int64(bytes.count))
      counts.append(entries.count)
    } catch {
      let isFull = error.code == ENOSPC || error.code == EDQUOT || error.code == EFBIG
      give(up: Failure(isFull ? .diskFull : .system, subject: directory, detail: error.description))
    }
  }

  /// Returns the entries of a part, counted from 0, from the file or from memory.
  func part(_ number: Int) throws(Failure) -> [EnqueueEntry] {
    guard number < ends.count else { return unspooled }
    var offset = number == 0 ? 0 : ends[number - 1]
    var buffer = [UInt8](repeating: 0, count: Int(ends[number] - offset))
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    do {
      while offset < ends[number] {
        let count = try buffer.withUnsafeMutableBytes { try file!.read(into: $0, at: offset) }
        guard count > 0 else { break }
        decoder.append(buffer[..<min(count, Int(ends[number] - offset))])
        offset += Int64(count)
      }
      if let body = try decoder.next() {
        return try CBORDecoder().decode(EnqueueList.self, from: body).entries
      }
    } catch {
      throw Failure(.system, subject: directory, messageDetail: MessageDetail(.listUnreadable, "\(error)"))
    }
    throw Failure(.system, messageDetail: MessageDetail(.listEnded))
  }
}
