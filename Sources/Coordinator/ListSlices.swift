// Classification of the customers in one part of a list: new ones, ones with a key known to the store, and repeated
// ones. Keys are compared byte by byte, in a list as in the store.
// Invariant: the number of held-back customers is known before the first customer of a list is admitted; see
// `SlicedList`. So the numbers of the list are consecutive in the end, even if other requests were admitted beside it.

import BankModel
import Posix
import QueueCore
import Time
import Wire

extension SliceKey {
  /// True if a customer with the same key and this digest is the same order again; false if the two contradict.
  func isRepeated(by other: Int64?) -> Bool { digest == nil || other == nil || digest == other }
}

/// Reason why a slice of a request could not be made.
enum SliceError: Error {
  /// The request itself is invalid.
  case request(Failure)
  /// The store has this key of another request, staged or on disk.
  case conflict(key: String)
  /// The spooled list cannot be read back.
  case spool(Failure)
  case store(StoreError)
}

struct ListSlices {
  let store: any QueueReader
  let services: ServiceDirectory
  let day: BusinessDay

  /// Counts the customers of a held-back part (one that is admitted last) whose keys the store does not know.
  func countNewCustomers(_ part: Int, of order: inout EnqueueQueue.Order) throws(SliceError) {
    guard case .list(var list) = order.source else { return }
    let entries = try read { () throws(Failure) in try list.list.part(part) }
    var fresh = Int64(entries.count)
    var keys: [String] = []
    for entry in entries {
      guard let key = entry.key else { continue }
      guard let known = try request(under: key) else {
        keys.append(key)
        continue
      }
      guard known.isRepeated(by: entry.digest(for: service(of: entry))) else {
        throw .conflict(key: key)
      }
      fresh -= 1
      order.known += 1
      order.alreadyIssuedTickets.add(known.tickets)
    }
    list.count(fresh: fresh, under: keys)
    order.source = .list(list)
  }

  /// Returns the new customers of the next part.
  /// - Parameter arriving: Numbers of the customers admitted so far; nil before the first part.
  /// - Parameter issued: The highest issued number; the numbers of `arriving` are not issued yet.
  func next(
    of sliced: SlicedList, _ order: inout EnqueueQueue.Order, with attachments: inout SliceAttachments,
    after arriving: InProgressEnqueue?, issued: TicketNumber
  ) throws(SliceError) -> [CustomerOrder] {
    var list = sliced
    let expected = list.expected
    let entries = try read { () throws(Failure) in
      guard let entries = try list.next() else {
        throw Failure(.system, messageDetail: MessageDetail(.listEnded))
      }
      return entries
    }
    let place = order.placement(
      of: expected ?? 0, heldBack: list.heldBack, after: arriving, issued: issued)
    order.source = .list(list)
    let slice = try newcomers(
      among: entries, of: &order, with: &attachments, at: place, countsKnownAlready: expected != nil)
    // Keys known during the count may have vanished in the rollback after a full disk. This part would then have more
    // new customers than numbers.
    guard expected == nil || expected == Int64(slice.count) else { throw .request(Failure(.diskFull)) }
    order.taken += Int64(entries.count)
    return slice
  }

  /// Orders for the new customers among the entries, whose payloads and keys are added to `attachments`. Entries with
  /// known keys are counted in the request, unless they were counted before (`countsKnownAlready`).
  private func newcomers(
    among entries: [EnqueueEntry], of order: inout EnqueueQueue.Order,
    with attachments: inout SliceAttachments,
    at place: InProgressEnqueue.TicketPlacement, countsKnownAlready: Bool
  ) throws(SliceError) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    slice.reserveCapacity(entries.count)
    // Indexed by bytes, as in the store: strings in Swift are equal under canonical equivalence.
    var fresh: [[UInt8]: Int] = [:]
    for entry in entries {
      if let key = entry.key {
        let digest = entry.digest(for: service(of: entry))
        let bytes = Array(key.utf8)
        if let first = fresh[bytes] {
          // A repeated entry gets the ticket of its first occurrence in this part.
          guard attachments.keys[first].isRepeated(by: digest) else { throw .request(.conflict(key)) }
          order.known += 1
          let ticket = attachments.keys[first].ticket
          order.alreadyIssuedTickets.add(IssuedTickets(day: day, first: ticket, last: ticket))
          continue
        }
        if let known = try request(under: key) {
          guard known.isRepeated(by: digest) else { throw .conflict(key: key) }
          if !countsKnownAlready {
            order.known += 1
            order.alreadyIssuedTickets.add(known.tickets)
          }
          continue
        }
        fresh[bytes] = attachments.keys.count
        attachments.keys.append(SliceKey(key: key, digest: digest, ticket: place.ticket(Int64(slice.count))))
      }
      if let payload = entry.payload {
        let ticket = place.ticket(Int64(slice.count))
        attachments.payloads.append(SlicePayload(payload: payload, tickets: ticket...ticket))
      }
      var customer = entry.order(for: service(of: entry))
      customer.dueAt = WallTime(dueAt: entry.dueAt, delay: entry.delay, requestedAt: order.requestedAt)
      slice.append(customer)
    }
    return slice
  }

  /// Service of an entry. It has a number, which was checked when the list arrived.
  private func service(of entry: EnqueueEntry) -> Service {
    guard let service = services[entry.service] else {
      preconditionFailure("the list was checked when it arrived")
    }
    return service
  }

  /// Reads a part of the list. An error of the spool is thrown as `SliceError.spool`.
  private func read(_ part: () throws(Failure) -> [EnqueueEntry]) throws(SliceError) -> [EnqueueEntry] {
    do throws(Failure) { return try part() } catch { throw .spool(error) }
  }

  /// Earlier request under a key; nil if the key is unknown.
  private func request(under key: String) throws(SliceError) -> KeyedRequest? {
    do throws(StoreError) { return try store.request(forKey: key) } catch { throw .store(error) }
  }
}

extension Failure { static func conflict(_ key: String) -> Failure { Failure(.keyConflict, subject: key) } }

/// Order in which the parts of a long list are admitted. The first parts are admitted last, so that a gap before the
/// numbers of the other parts is free for other requests until the list is complete; see `InProgressEnqueue`.
/// Invariant: no part is admitted twice. From the first admission on, `heldBack` is the number of tickets still to be
/// issued to held-back customers. So those with known keys are found before the first admission. If a key of the
/// checked parts may repeat in the list, no part is held back, because the number would be known too late.
struct SlicedList {
  let list: EnqueueListSpool
  /// Number of new customers that are held back: they precede the admitted ones in list order.
  private(set) var heldBack: Int64 = 0
  /// Number of held-back parts, which are the first ones of the list.
  private let begin: Int
  /// Number of new customers in each counted part.
  private var fresh: [Int64] = []
  /// Hashes of the keys of held-back new customers; no other request may use these keys before the list is
  /// complete.
  private var keysHeldBack: Set<Int> = []
  private var taken = 0

  /// Holds back at most half of the parts. Of a list with keys at most `EnqueueListSpool.checkedParts` parts are held
  /// back, and of a list without keys at most `limit` customers. A limit of 0 admits all parts in list order.
  init(_ list: EnqueueListSpool, heldBackLimit limit: Int64) {
    self.list = list
    let most = list.hasKeys ? EnqueueListSpool.checkedParts : Int(limit) / list.partLimit
    begin = limit == 0 || list.mayRepeat ? 0 : min(list.parts / 2, most)
    lookUpAgain()
  }

  /// Next part to be counted before the first admission; nil if all held-back parts are counted.
  var uncounted: Int? { fresh.count < begin ? fresh.count : nil }

  /// Records the number of new customers of a held-back part, and their keys, which other requests must not use.
  mutating func count(fresh count: Int64, under keys: [String]) {
    fresh.append(count)
    heldBack += count
    for key in keys { keysHeldBack.insert(EnqueueListSpool.hash(of: key)) }
  }

  /// True if no request with this key may be admitted before the list. For a long list this applies to the keys
  /// of held-back customers that were counted as new. Any other key is looked up when its part is admitted.
  func reserves(_ key: String) -> Bool {
    list.hasSeveralParts ? keysHeldBack.contains(EnqueueListSpool.hash(of: key)) : list.hasUnspooledKey(key)
  }

  /// Discards the counts of new customers, because a rollback has removed keys from the store.
  mutating func lookUpAgain() {
    precondition(taken == 0, "counts are final once the first part is accepted")
    // Without keys every customer is new.
    fresh = list.hasKeys ? [] : (0..<begin).map { Int64(list.count(ofPart: $0)) }
    heldBack = fresh.reduce(0, +)
    keysHeldBack = []
  }

  /// Number of new customers in the next part if that part is held back; nil if it is not.
  var expected: Int64? { taken < list.parts - begin ? nil : fresh[nextPart] }
  /// Index of the part that is admitted next.
  private var nextPart: Int { taken < list.parts - begin ? begin + taken : list.parts - 1 - taken }

  /// Returns the entries of the part that is admitted next; nil after the last part.
  mutating func next() throws(Failure) -> [EnqueueEntry]? {
    precondition(uncounted == nil, "all customers held back are counted before one is added")
    guard taken < list.parts else { return nil }
    let entries = try list.part(nextPart)
    heldBack -= expected ?? 0
    taken += 1
    return entries
  }
}
