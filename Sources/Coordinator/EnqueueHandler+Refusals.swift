// Refusals of waiting requests, and the end of a request that is partly admitted.
// Invariant: each request that ends here gets one answer.

import BankModel
import QueueCore
import Wire

extension EnqueueHandler {
  /// Ends a request whose slice could not be made, and reports the error to its client.
  func refuse(_ order: EnqueueQueue.Order, _ error: SliceError) {
    switch error {
    case .store(let error): return handleLookupFailure(error, order)
    case .spool(let failure):
      context.write(event: "list_read_failed", level: .error) { $0.field("msg", failure.detail) }
      breakOff(order, failure)
    case .request(let failure): breakOff(order, failure)
    case .conflict(let key): refuse(order, conflictUnder: key)
    }
  }

  /// Ends a request whose key belongs to another request. The key may be staged, so the client of a request without
  /// customers is answered when the key is on disk.
  private func refuse(_ order: EnqueueQueue.Order, conflictUnder key: String) {
    guard order.taken == 0 else { return breakOff(order, .conflict(key)) }
    line.end(order)
    guard let entry = requests.close(order.request) else { return }
    durableReads.answerWhenDurable(entry.requester) { store throws(StoreError) in
      // Meanwhile the key may have been rolled back.
      .failure(try store.request(forKey: key) == nil ? Failure(.diskFull) : .conflict(key))
    }
  }

  /// Ends this request alone: its failure does not affect other requests.
  func breakOff(_ order: EnqueueQueue.Order, _ failure: Failure) {
    line.end(order)
    if order.taken == 0 { requests.fail(order.request, failure) } else { giveUp(because: failure) }
  }

  /// Gives up the partly admitted request, and sends its client the reason.
  ///
  /// Staged changes are committed first. The numbers of the request's customers on disk are not issued, and these
  /// customers are removed before the numbers are issued.
  /// - Returns: True if a request was given up. False also if the disk was full in the commit, because the queue
  ///   has then refused the request and notified its client.
  @discardableResult
  func giveUp(because failure: Failure) -> Bool {
    guard queue.machine.isTakingIn else { return false }
    queue.commit()
    guard let given = queue.machine.arriving else { return false }
    line.abandon()
    requests.fail(given.request, failure)
    queue.process(.enqueueAbandoned)
    return true
  }

  /// Drops the partly admitted request, which the queue has refused because the disk is full.
  func handleDiskFull() { line.abandon() }

  /// Refuses all waiting requests. The caller makes sure that none is partly admitted.
  func refuseAll(because failure: Failure) {
    for request in abandonAll() { requests.fail(request, failure) }
  }

  /// Empties the line of requests. Returns the requests, which are still unanswered.
  private func abandonAll() -> [RequestNumber] {
    gathered = nil
    return line.abandonAll()
  }

  /// Refuses all waiting requests, and gives up the partly admitted one.
  func refusePending(because failure: Failure) {
    let waiting = abandonAll()
    giveUp(because: failure)
    for request in waiting { requests.fail(request, failure) }
  }
}
