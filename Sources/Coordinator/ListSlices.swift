// Owns how the customers of one part of a list are told apart: who is new, who has a key that the store knows, and who
// stands twice. Keys are compared byte by byte, in a list as in the store. It remembers nothing and changes nothing but the
// order that it is handed.
// Invariant: before the first customer of a list comes it is certain how many are held back, so that the numbers of the
// list follow one another in the end, whoever has come beside it; see `SlicedList`.

import BankModel
import Posix
import QueueCore
import Time
import Wire

struct SliceKey {
  var key: String
  var digest: Int64?
  var ticket: TicketNumber

  /// Whether a customer under the same key is the same one.
  func isRepeated(by other: Int64?) -> Bool { digest == nil || other == nil || digest == other }
}

enum SliceTrouble: Error {
  /// Something is wrong with the request, and with nothing else.
  case request(Failure)
  /// What was kept of the list cannot be read back.
  case spool(Failure)
  case store(StoreError)
}

struct ListSlices {
  let store: any QueueReading
  let services: ServiceDirectory
  let day: BusinessDay

  /// Looks whom of a part the store knows. The part is held back, and before anybody of the list comes in it has to be
  /// certain for how many.
  func lookThrough(_ part: Int, of order: inout EnqueueIntake.Order) throws(SliceTrouble) {
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
        throw .request(.conflict(key))
      }
      fresh -= 1
      order.known += 1
      order.knownTickets.add(known.tickets)
    }
    list.count(fresh: fresh, under: keys)
    order.source = .list(list)
  }

  /// The new customers of the next part.
  /// - Parameter arriving: Where those of the list stand who have come; nil before the first part.
  /// - Parameter issued: The highest number that is somebody's.
  func next(
    of sliced: SlicedList, _ order: inout EnqueueIntake.Order, with baggage: inout SliceBaggage,
    after arriving: ArrivingRequest?, issued: TicketNumber
  ) throws(SliceTrouble) -> [CustomerOrder] {
    var list = sliced
    let expected = list.expected
    let entries = try read { () throws(Failure) in
      guard let entries = try list.next() else { throw Failure(.system, remark: Remark(.listEnded)) }
      return entries
    }
    let place = order.placement(
      of: expected ?? 0, heldBack: list.heldBack, after: arriving, issued: issued)
    order.source = .list(list)
    let slice = try newcomers(
      among: entries, of: &order, with: &baggage, at: place, areKnownCounted: expected != nil)
    // Only a full disk takes back keys that were known when they were counted: there would be numbers of nobody.
    guard expected == nil || expected == Int64(slice.count) else { throw .request(Failure(.diskFull)) }
    order.taken += Int64(entries.count)
    return slice
  }

  private func newcomers(
    among entries: [EnqueueEntry], of order: inout EnqueueIntake.Order, with baggage: inout SliceBaggage,
    at place: ArrivingRequest.Placement, areKnownCounted: Bool
  ) throws(SliceTrouble) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    slice.reserveCapacity(entries.count)
    // By their bytes, as the store keeps them: a text of Swift's is equal to one that is spelled otherwise.
    var fresh: [[UInt8]: Int] = [:]
    for entry in entries {
      if let key = entry.key {
        let digest = entry.digest(for: service(of: entry))
        let bytes = Array(key.utf8)
        if let first = fresh[bytes] {
          // Whoever stands twice in this list has the ticket of the first time.
          guard baggage.keys[first].isRepeated(by: digest) else { throw .request(.conflict(key)) }
          order.known += 1
          let ticket = baggage.keys[first].ticket
          order.knownTickets.add(IssuedTickets(day: day, first: ticket, last: ticket))
          continue
        }
        if let known = try request(under: key) {
          guard known.isRepeated(by: digest) else { throw .request(.conflict(key)) }
          if !areKnownCounted {
            order.known += 1
            order.knownTickets.add(known.tickets)
          }
          continue
        }
        fresh[bytes] = baggage.keys.count
        baggage.keys.append(SliceKey(key: key, digest: digest, ticket: place.ticket(Int64(slice.count))))
      }
      if let payload = entry.payload {
        let next = Int64(slice.count) + (Kernel.makes("givesPayloadsToTheNeighbour") ? 1 : 0)
        let ticket = place.ticket(next)
        baggage.payloads.append(SlicePayload(payload: payload, tickets: ticket...ticket))
      }
      var customer = entry.order(for: service(of: entry))
      customer.dueAt = WallTime(dueAt: entry.dueAt, delay: entry.delay, asked: order.asked)
      slice.append(customer)
    }
    return slice
  }

  /// Whoever is in the list came for a service that had its number.
  private func service(of entry: EnqueueEntry) -> Service {
    guard let service = services[entry.service] else {
      preconditionFailure("the list was checked when it came")
    }
    return service
  }

  private func read(_ part: () throws(Failure) -> [EnqueueEntry]) throws(SliceTrouble) -> [EnqueueEntry] {
    do throws(Failure) { return try part() } catch { throw .spool(error) }
  }

  private func request(under key: String) throws(SliceTrouble) -> KeyedRequest? {
    do throws(StoreError) { return try store.request(forKey: key) } catch { throw .store(error) }
  }
}

extension Failure { static func conflict(_ key: String) -> Failure { Failure(.keyConflict, subject: key) } }

/// The order in which the parts of a long list are taken in: the first of them last, so that there is a gap before the
/// others as long as the list is not whole, and other requests have numbers; see `QueueMachine`.
/// Invariant: each part comes once, and `heldBack` is exactly how many tickets those are issued who are still held back.
/// So whoever of them has a known key is counted before anybody of the list comes in, and a list that names one of them
/// twice holds nobody back: how many those are would be known too late.
struct SlicedList {
  let list: ListSpool
  /// New customers who are held back: they come before those who were taken, by the order of the list.
  private(set) var heldBack: Int64 = 0
  private let begin: Int
  /// New customers in each of them, as far as they were counted.
  private var fresh: [Int64] = []
  /// The hashes of their keys. Whoever is counted as new must find nobody under the key in the end.
  private var keysHeldBack: Set<Int> = []
  private var taken = 0

  /// At most so many are held back, and never more than half; with 0 all come in their order.
  init(_ list: ListSpool, heldBackAtMost limit: Int64) {
    self.list = list
    let most = list.hasKeys ? ListSpool.watchedParts : Int(limit) / list.partLimit
    begin = limit == 0 || list.mayRepeat ? 0 : min(list.parts / 2, most)
    lookAnew()
  }

  /// The part that has to be looked through before any is taken; nil when the customers of all who are held back were
  /// counted.
  var uncounted: Int? { fresh.count < begin ? fresh.count : nil }

  /// So many of the part that was looked through are new, those under these keys among them.
  mutating func count(fresh count: Int64, under keys: [String]) {
    fresh.append(count)
    heldBack += count
    for key in keys { keysHeldBack.insert(ListSpool.hash(of: key)) }
  }

  /// Whether nobody may come before the list under this key. Of a long list that is so for those who were counted as new
  /// and are held back. Any other finds whoever has come before, or was found by the store.
  func reserves(_ key: String) -> Bool {
    list.hasSeveralParts ? keysHeldBack.contains(ListSpool.hash(of: key)) : list.hasKeyInRest(key)
  }

  /// Forgets what was counted: keys were taken back.
  mutating func lookAnew() {
    precondition(taken == 0, "what was counted has become certain with the first part that was taken")
    // Nobody without a key is known.
    fresh = list.hasKeys ? [] : (0..<begin).map { Int64(list.count(ofPart: $0)) }
    heldBack = fresh.reduce(0, +)
    keysHeldBack = []
  }

  /// How many of the next part are new, where it is one that is held back.
  var expected: Int64? { taken < list.parts - begin ? nil : fresh[nextPart] }
  private var nextPart: Int { taken < list.parts - begin ? begin + taken : list.parts - 1 - taken }

  mutating func next() throws(Failure) -> [EnqueueEntry]? {
    precondition(uncounted == nil, "nobody comes before everybody who is held back was counted")
    guard taken < list.parts else { return nil }
    let entries = try list.part(nextPart)
    heldBack -= expected ?? 0
    taken += 1
    return entries
  }
}
