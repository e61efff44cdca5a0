// Owns how the customers of one part of a list are told apart: who is new, who has a key that the store knows, and who
// stands twice. Keys are compared byte by byte, in a list as in the store. It remembers nothing and changes nothing but the
// order that it is handed.
// Invariant: before the first customer of a list comes it is certain how many are held back, so that the numbers of the
// list follow one another in the end, whoever has come beside it; see `SlicedList`.

import BankModel
import QueueCore
import Wire

/// A key of a slice, and whose it is.
struct SliceKey {
  var key: String
  var digest: Int64?
  /// The customer's ticket.
  var ticket: TicketNumber

  /// Whether a customer under the same key is the same one.
  func isRepeated(by other: Int64?) -> Bool { digest == nil || other == nil || digest == other }
}

/// Why a slice cannot be taken.
enum SliceTrouble: Error {
  /// Something is wrong with the request, and with nothing else.
  case request(Failure)
  /// What was kept of the list cannot be read back.
  case spool(Failure)
  /// The store cannot be asked.
  case store(StoreError)
}

/// The parts of lists, by what the store knows of their customers.
struct ListSlices {
  let store: any QueueReading
  /// The present day.
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
      guard known.isRepeated(by: entry.digest) else { throw .request(.conflict(key)) }
      fresh -= 1
      order.known += 1
      order.knownTickets.add(known.tickets)
    }
    list.count(fresh: fresh, under: keys)
    order.source = .list(list)
  }

  /// The new customers of the next part.
  ///
  /// - Parameters:
  ///   - arriving: Where those of the list stand who have come; nil before the first part.
  ///   - issued: The highest number that is somebody's.
  func next(
    of sliced: SlicedList, _ order: inout EnqueueIntake.Order, keys: inout [SliceKey],
    after arriving: ArrivingRequest?, issued: TicketNumber
  ) throws(SliceTrouble) -> [CustomerOrder] {
    var list = sliced
    let (held, expected) = (list.heldBack, list.expected)
    let entries = try read { () throws(Failure) in
      guard let entries = try list.next() else { throw Failure(.system, remark: Remark(.listEnded)) }
      return entries
    }
    order.source = .list(list)
    let stand =
      arriving ?? ArrivingRequest(order.request, total: order.total, heldBack: held, issued: issued)
    let place = stand.placement(of: expected ?? 0, heldBack: list.heldBack, issued: issued)
    let slice = try newcomers(
      among: entries, of: &order, keys: &keys, at: place, areKnownCounted: expected != nil)
    // Only a full disk takes back keys that were known when they were counted: there would be numbers of nobody.
    guard expected == nil || expected == Int64(slice.count) else { throw .request(Failure(.diskFull)) }
    order.taken += Int64(entries.count)
    return slice
  }

  /// Those of a part of a list who are new.
  private func newcomers(
    among entries: [EnqueueEntry], of order: inout EnqueueIntake.Order, keys: inout [SliceKey],
    at place: ArrivingRequest.Placement, areKnownCounted: Bool
  ) throws(SliceTrouble) -> [CustomerOrder] {
    var slice: [CustomerOrder] = []
    slice.reserveCapacity(entries.count)
    // By their bytes, as the store keeps them: a text of Swift's is equal to one that is spelled otherwise.
    var fresh: [[UInt8]: Int] = [:]
    for entry in entries {
      if let key = entry.key {
        let digest = entry.digest
        let bytes = Array(key.utf8)
        if let first = fresh[bytes] {
          // Whoever stands twice in this list has the ticket of the first time.
          guard keys[first].isRepeated(by: digest) else { throw .request(.conflict(key)) }
          order.known += 1
          let ticket = keys[first].ticket
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
        fresh[bytes] = keys.count
        keys.append(SliceKey(key: key, digest: digest, ticket: place.ticket(Int64(slice.count))))
      }
      slice.append(entry.order)
    }
    return slice
  }

  private func read(_ part: () throws(Failure) -> [EnqueueEntry]) throws(SliceTrouble) -> [EnqueueEntry] {
    do throws(Failure) { return try part() } catch { throw .spool(error) }
  }

  private func request(under key: String) throws(SliceTrouble) -> KeyedRequest? {
    do throws(StoreError) { return try store.request(forKey: key) } catch { throw .store(error) }
  }
}

extension Failure {
  /// The key stands for another request.
  static func conflict(_ key: String) -> Failure { Failure(.keyConflict, subject: key) }
}
