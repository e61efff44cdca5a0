// Answers to requests whose key is known: the tickets of the first request, after these are on disk, or a refusal if
// the new request differs.

import BankModel
import Posix
import QueueCore
import Wire

extension EnqueueHandler {
  /// Answers a request with a known key. Returns false if the key is unknown.
  func answerKnown(_ key: String, _ order: EnqueueQueue.Order) -> Bool {
    do throws(StoreError) { guard try store.request(forKey: key) != nil else { return false } } catch {
      handleLookupFailure(error, order)
      return true
    }
    line.end(order)
    guard let entry = requests.close(order.request) else { return true }
    // The key may be staged and not yet on disk. No answer is sent before the key is on disk, because a staged
    // key can be rolled back.
    let reply =
      Mutant.answersKeyBeforeCommit.isActive
      ? durableReads.answerImmediately : durableReads.answerWhenDurable
    reply(entry.requester) { [engine = queue.engine] store throws(StoreError) in
      // Meanwhile the key may have been rolled back, and stored again with a request that is incomplete.
      let kept = engine.durableCounters
      guard let known = try store.request(forKey: key),
        known.tickets.day < kept.day || known.tickets.last <= kept.issued
          || Mutant.answersKeyBeforeCommit.isActive
      else { return .failure(Failure(.diskFull)) }
      guard known.isRepeated(by: order.digest) else { return .failure(.conflict(key)) }
      let tickets = known.tickets
      let (first, last, count) = (tickets.first, tickets.last, tickets.last - tickets.first + 1)
      return .enqueued(EnqueuedReport(day: tickets.day, first: first, last: last, count: count, known: count))
    }
    return true
  }

  /// Handles a failed key look-up: reports the error to the client and passes it to the queue.
  func handleLookupFailure(_ error: StoreError, _ order: EnqueueQueue.Order) {
    line.end(order)
    requests.fail(order.request, Failure(store: error))
    server.flush()
    queue.fail(error)
  }
}
