// Owns what becomes of a request whose key is known: it is answered with the tickets of the first time, when these are on disk, or
// refused where it asks for something else. Failure: a key that cannot be looked up is the end of the request, and of this process
// where the disk is in doubt.

import BankModel
import Posix
import QueueCore
import Wire

extension Intake {
  /// Answers a request whose key is known; false where it is not.
  func answerKnown(_ key: String, _ order: EnqueueIntake.Order) -> Bool {
    do throws(StoreError) { guard try store.request(forKey: key) != nil else { return false } } catch {
      lookUpFailed(error, order)
      return true
    }
    line.end(order)
    guard let entry = requests.close(order.request) else { return true }
    // The key may have been staged a moment ago: nothing is spoken that is not on disk, nor a key that is taken back.
    let tell = Kernel.makes("answersAKeyTooEarly") ? readings.tellAtOnce : readings.tellKept
    tell(entry.seat) { [engine = queue.engine] store throws(StoreError) in
      // Meanwhile it may have been taken back, and have come again with a request that is not whole.
      let kept = engine.keptBooks
      guard let known = try store.request(forKey: key),
        known.tickets.day < kept.day || known.tickets.last <= kept.issued
          || Kernel.makes("answersAKeyTooEarly")
      else { return .failure(Failure(.diskFull)) }
      guard known.isRepeated(by: order.digest) else { return .failure(.conflict(key)) }
      let tickets = known.tickets
      let (first, last, count) = (tickets.first, tickets.last, tickets.last - tickets.first + 1)
      return .enqueued(EnqueuedReport(day: tickets.day, first: first, last: last, count: count, known: count))
    }
    return true
  }

  /// A key cannot be looked up. A full disk is one to whoever asked, and everybody waits for room; anything worse keeps its
  /// name, and is the end of this process as it is everywhere.
  func lookUpFailed(_ error: StoreError, _ order: EnqueueIntake.Order) {
    line.end(order)
    requests.fail(order.request, Failure(store: error))
    server.flush()
    queue.fail(error)
  }
}
