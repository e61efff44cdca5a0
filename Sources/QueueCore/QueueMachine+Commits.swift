// Commit and rollback of staged changes. The queue receives an event when a transaction is in flight, on disk or
// refused.
//
// There is one list for each kind of element that waits for the disk: changes, tickets, replies, starts, pauses. Each
// list is in staging order. The oldest transaction in flight owns the first elements of each list, the next transaction
// the elements after these. So a transaction stores the counts of its elements, and settling the oldest one removes
// elements from the front of the lists. A refusal concerns all elements that are not on disk. With a store that commits
// synchronously, no transaction is in flight, and all elements are settled together.
//
// Invariant: an element leaves its list only with its own transaction, by a refusal, or by the loss of a branch's
// lease. A start also leaves its list if it is revoked.

import BankModel
import Time

/// Numbers of changes, requests, replies and assignments that wait for the disk.
struct PendingCounts: Sendable, Equatable {
  var changes = 0
  /// Number of bytes of the results in the changes.
  var bytes = 0
  /// Number of requests whose tickets are not on disk.
  var pendingEnqueues = 0
  var answers = 0
  /// Number of assignments that were not sent.
  var pendingStarts = 0
  var pauses = 0

  static func += (left: inout Self, right: Self) {
    left.changes += right.changes
    left.bytes += right.bytes
    left.pendingEnqueues += right.pendingEnqueues
    left.answers += right.answers
    left.pendingStarts += right.pendingStarts
    left.pauses += right.pauses
  }

  static func - (left: Self, right: Self) -> Self {
    Self(
      changes: left.changes - right.changes, bytes: left.bytes - right.bytes,
      pendingEnqueues: left.pendingEnqueues - right.pendingEnqueues, answers: left.answers - right.answers,
      pendingStarts: left.pendingStarts - right.pendingStarts, pauses: left.pauses - right.pauses)
  }
}

/// A transaction that the store has received and whose result is unknown.
struct InFlightTransaction: Sendable {
  /// Number of elements of each list that belong to the transaction.
  var counts: PendingCounts
  /// Services that are paused after this transaction, by index.
  var paused: [Bool]
  /// Last lease of each window whose receipt is in this transaction.
  var acknowledgements: [(window: Window, lease: Lease)]
}

extension QueueMachine {
  /// Number of transactions in flight.
  public var underwayCount: Int { underway.count }
  /// True if one more transaction may be in flight.
  public var hasRoomUnderway: Bool { underway.count < policy.maxUnderway }
  /// True if anything waits for a commit and is not in flight. A partly arrived request does not count.
  public var isUnsealed: Bool {
    underway.isEmpty
      ? hasUncommittedChanges : !uncommitted.isEmpty && unsealed.changes > 0 || hasRepliesToCommit
  }
  /// True if the coordinator must hold back new customers: changes or result bytes have reached their limit while a
  /// transaction is in flight, or a reset waits until the issued tickets are on disk. A request that is already
  /// arriving in slices continues.
  public var delaysEnqueues: Bool {
    if !deferredRequests.isEmpty { return !isTakingIn }
    return !underway.isEmpty && isSaturated
  }

  /// Number of elements that wait for the disk and belong to no transaction in flight.
  var unsealed: PendingCounts {
    var sealed = PendingCounts()
    for transaction in underway { sealed += transaction.counts }
    return PendingCounts(
      changes: uncommitted.count, bytes: uncommittedBytes, pendingEnqueues: pendingEnqueues.count,
      answers: pendingReplies.count,
      pendingStarts: pendingStarts.count, pauses: pausing.count) - sealed
  }

  /// Closes a transaction over the changes that were staged since the last one. It is in flight from now on.
  mutating func seal() {
    precondition(hasRoomUnderway, "the number of transactions in flight is limited")
    let counts = unsealed
    var acknowledgements: [(window: Window, lease: Lease)] = []
    takeAcknowledgements { acknowledgements.append(($0, $1)) }
    delayed.sealNewcomers()
    underway.append(
      InFlightTransaction(counts: counts, paused: dayCounters.paused, acknowledgements: acknowledgements))
  }

  /// Settles the oldest transaction in flight, or everything if none is in flight: adds the newcomers to their lines,
  /// and sends the tickets and the other replies.
  mutating func settle(at now: Moment, into effects: inout [QueueEffect]) {
    isDiskFull = false
    let oldest = underway.isEmpty ? nil : underway.removeFirst()
    let counts = oldest?.counts ?? unsealed
    uncommitted.removeFirst(counts.changes)
    uncommittedBytes -= counts.bytes
    committedPauses = oldest?.paused ?? dayCounters.paused
    pausing.removeFirst(counts.pauses)
    settleNewcomers(ofTheFirst: counts.pendingEnqueues)
    for admission in pendingEnqueues.prefix(counts.pendingEnqueues) {
      effects.append(.reply(admission.request, answer(to: admission)))
    }
    pendingEnqueues.removeFirst(counts.pendingEnqueues)
    if let oldest {
      for (window, lease) in oldest.acknowledgements where hears(window, lease) {
        effects.append(.acknowledge(window, lease))
      }
    } else {
      takeAcknowledgements { effects.append(.acknowledge($0, $1)) }
    }
    effects.append(contentsOf: pendingReplies.prefix(counts.answers))
    pendingReplies.removeFirst(counts.answers)
    if counts.pendingStarts > 0 { sendStarts(counts.pendingStarts, at: now, into: &effects) }
    if !isTakingIn { processDeferredRequests(at: now, into: &effects) }
  }

  /// Adds the customers of the first `count` requests, whose tickets are on disk, to their lines.
  private mutating func settleNewcomers(ofTheFirst count: Int) {
    delayed.settleNewcomers()
    guard count > 0 else { return }
    if count == pendingEnqueues.count {
      for index in lines.indices { lines[index].settleNewcomers() }
      return
    }
    var byLine = Array(repeating: 0 as Int64, count: lines.count)
    for admission in pendingEnqueues.prefix(count) {
      for (place, count) in admission.runs { byLine[place] += count }
    }
    for (place, count) in byLine.enumerated() where count > 0 { lines[place].settleNewcomers(count) }
  }

  /// For each window with an unacknowledged receipt, passes the last completed lease to `take` and clears it.
  private mutating func takeAcknowledgements(_ take: (Window, Lease) -> Void) {
    for service in windows.indices {
      for place in windows[service].indices {
        guard let lease = windows[service][place].unacknowledged else { continue }
        windows[service][place].unacknowledged = nil
        take(windows[service][place].window, lease)
      }
    }
  }

  /// Reply to a request whose tickets are on disk.
  private func answer(to admission: PendingEnqueue) -> QueueAnswer {
    .enqueued(
      IssuedTickets(
        day: dayCounters.day, first: admission.first, last: admission.first + admission.count - 1))
  }

  /// True if the teller that completed this lease is still at the window.
  private func hears(_ window: Window, _ lease: Lease) -> Bool {
    guard let (service, place) = locate(window) else { return false }
    return windows[service][place].generation == lease.generation && windows[service][place].state != .vacant
  }

  /// Applies the resets that waited, if all issued tickets are on disk now.
  mutating func processDeferredRequests(at now: Moment, into effects: inout [QueueEffect]) {
    guard !deferredRequests.isEmpty, !hasUncommittedTickets else { return }
    let waiting = deferredRequests
    deferredRequests.removeAll()
    for event in waiting { apply(event, at: now, into: &effects) }
  }

  /// Handles a full disk: revokes tickets, and pauses and resumes by operators, that are not on disk; refuses waiting
  /// resets; stages all other changes again.
  mutating func handleDiskFull(into effects: inout [QueueEffect]) {
    isDiskFull = true
    reopenTransactions()
    for request in revertTickets() { effects.append(.reply(request, .refused(.diskFull))) }
    dayCounters.paused = committedPauses
    for request in pausing {
      pendingReplies.removeAll { if case .reply(request, _) = $0 { true } else { false } }
      effects.append(.reply(request, .refused(.diskFull)))
    }
    pausing.removeAll()
    for case .reset(let request) in deferredRequests { effects.append(.reply(request, .refused(.diskFull))) }
    deferredRequests.removeAll()
    for change in uncommitted { effects.append(.stage(change)) }
    // The changes of the revoked starts follow the changes that were staged above.
    revertStarts(into: &effects)
  }

  /// Merges all transactions in flight with the changes staged after them, because the full disk has rejected them.
  private mutating func reopenTransactions() {
    for (window, lease) in underway.reversed().flatMap(\.acknowledgements) where hears(window, lease) {
      // The acknowledgement of a later lease covers the earlier ones.
      guard let (service, place) = locate(window), windows[service][place].unacknowledged == nil else {
        continue
      }
      windows[service][place].unacknowledged = lease
    }
    underway.removeAll()
  }

  /// Pauses a service because of a worker's report. This pause is not revoked if the disk is full.
  mutating func pausePermanently(_ service: Int) {
    (dayCounters.paused[service], committedPauses[service]) = (true, true)
    for place in underway.indices { underway[place].paused[service] = true }
  }

  /// Revokes the tickets that are not on disk, from the last one down.
  ///
  /// - Returns: the requests for these tickets, the last request first; the request that has arrived in part is at the
  ///   end.
  private mutating func revertTickets() -> [RequestNumber] {
    let requests = pendingEnqueues.reversed().map(\.request) + (arriving.map { [$0.request] } ?? [])
    forgetArriving()
    for admission in pendingEnqueues.reversed() {
      precondition(
        admission.first + admission.count - 1 == dayCounters.issued,
        "tickets are withdrawn from the last one down"
      )
      dayCounters.issued -= admission.count
      for (place, count) in admission.runs { dayCounters.waiting[place] -= count }
      dayCounters.delay(admission.delayed, times: -1)
    }
    pendingEnqueues.removeAll()
    for line in lines.indices { lines[line].dropNewcomers() }
    delayed.dropNewcomers()
    return requests
  }
}
