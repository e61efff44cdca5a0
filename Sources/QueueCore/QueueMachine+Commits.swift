// Owns how what was staged becomes certain, or is taken back. It must not know a disk: that something is on its way there, has
// come there or was refused are events.
//
// Everything that waits for the disk stands in one list of its kind, in the order in which it was staged: changes, tickets,
// answers, starts, pauses. A transaction that is on its way is the beginning of each of these lists, behind those that were
// handed over before it, so only its counts are kept. The oldest is settled by what stands first in the lists, and a refusal,
// of which all are a part that are not on disk, has nothing to put together. Where a store answers at once none is ever on
// its way, and everything is settled together.
//
// Invariant: nothing leaves the lists but with its own transaction, or by a refusal.

import BankModel
import Time

/// How much waits for the disk, of each kind.
struct WaitingCounts: Sendable, Equatable {
  var changes = 0
  /// Bytes of the results among the changes.
  var bytes = 0
  var admissions = 0
  var answers = 0
  var starts = 0
  var pauses = 0

  static func += (left: inout Self, right: Self) {
    left.changes += right.changes
    left.bytes += right.bytes
    left.admissions += right.admissions
    left.answers += right.answers
    left.starts += right.starts
    left.pauses += right.pauses
  }

  static func - (left: Self, right: Self) -> Self {
    Self(
      changes: left.changes - right.changes, bytes: left.bytes - right.bytes,
      admissions: left.admissions - right.admissions, answers: left.answers - right.answers,
      starts: left.starts - right.starts, pauses: left.pauses - right.pauses)
  }
}

/// A transaction that was handed to the store, and of which nobody knows yet whether it is on disk.
struct UnderwayTransaction: Sendable {
  /// What of that which waits is a part of it.
  var counts: WaitingCounts
  /// The services that are paused with it.
  var paused: [Bool]
  /// The last lease of each window of which the receipt is a part of it.
  var acknowledgements: [(window: Window, lease: Lease)]
}

extension QueueMachine {
  /// Transactions on their way to the disk.
  public var underwayCount: Int { underway.count }
  /// Whether one more may be on its way.
  public var hasRoomUnderway: Bool { underway.count < policy.maxUnderway }
  /// Whether anything waits to be written that is not on its way. A request that is half taken in is not waited for.
  public var isUnsealed: Bool {
    underway.isEmpty ? isUnsettled : !unsettled.isEmpty && unsealed.changes > 0 || hasPromises
  }
  /// Whether customers are let in no further for now: a reset waits until every ticket is on disk, or as much waits for
  /// the disk as may while something is on its way there.
  public var holdsBackIntake: Bool {
    if !postponed.isEmpty { return !isTakingIn }
    return !underway.isEmpty && isSaturated
  }

  /// What waits and is not on its way.
  var unsealed: WaitingCounts {
    var sealed = WaitingCounts()
    for transaction in underway { sealed += transaction.counts }
    return WaitingCounts(
      changes: unsettled.count, bytes: unsettledBytes, admissions: admissions.count, answers: settling.count,
      starts: starts.count, pauses: pausing.count) - sealed
  }

  /// Everything that was staged and is not on its way is one transaction, and is on its way from here on.
  mutating func seal() {
    precondition(hasRoomUnderway, "no more transactions are on their way than may be")
    let counts = unsealed
    var acknowledgements: [(window: Window, lease: Lease)] = []
    takeAcknowledgements { acknowledgements.append(($0, $1)) }
    delayed.sealNewcomers()
    underway.append(
      UnderwayTransaction(counts: counts, paused: books.paused, acknowledgements: acknowledgements))
  }

  /// A transaction is on disk, the oldest of those on their way, or everything where none is: tickets are spoken, newcomers
  /// stand in line, answers leave.
  mutating func settle(at now: Moment, into effects: inout [QueueEffect]) {
    isJammed = false
    let oldest = underway.isEmpty ? nil : underway.removeFirst()
    let counts = oldest?.counts ?? unsealed
    unsettled.removeFirst(counts.changes)
    unsettledBytes -= counts.bytes
    settledPauses = oldest?.paused ?? books.paused
    pausing.removeFirst(counts.pauses)
    settleNewcomers(ofTheFirst: counts.admissions)
    for admission in admissions.prefix(counts.admissions) {
      effects.append(.reply(admission.request, answer(to: admission)))
    }
    admissions.removeFirst(counts.admissions)
    if let oldest {
      for (window, lease) in oldest.acknowledgements where hears(window, lease) {
        effects.append(.acknowledge(window, lease))
      }
    } else {
      takeAcknowledgements { effects.append(.acknowledge($0, $1)) }
    }
    effects.append(contentsOf: settling.prefix(counts.answers))
    settling.removeFirst(counts.answers)
    if counts.starts > 0 { beginStarts(counts.starts, at: now, into: &effects) }
    if !isTakingIn { takeUpPostponed(at: now, into: &effects) }
  }

  /// Those with the first so many tickets that were asked for stand in line. Of a line they are taken together, however many
  /// have asked.
  private mutating func settleNewcomers(ofTheFirst count: Int) {
    delayed.settleNewcomers()
    guard count > 0 else { return }
    if count == admissions.count {
      for index in lines.indices { lines[index].settleNewcomers() }
      return
    }
    var byLine = Array(repeating: 0 as Int64, count: lines.count)
    for admission in admissions.prefix(count) {
      for (place, count) in admission.runs { byLine[place] += count }
    }
    for (place, count) in byLine.enumerated() where count > 0 { lines[place].settleNewcomers(count) }
  }

  /// Takes the last lease of each window that is to hear of its receipt.
  private mutating func takeAcknowledgements(_ take: (Window, Lease) -> Void) {
    for service in windows.indices {
      for place in windows[service].indices {
        guard let lease = windows[service][place].unacknowledged else { continue }
        windows[service][place].unacknowledged = nil
        take(windows[service][place].window, lease)
      }
    }
  }

  private func answer(to admission: Admission) -> QueueAnswer {
    .enqueued(
      IssuedTickets(
        day: books.day, first: admission.first, last: admission.first + admission.count - 1))
  }

  /// Whether whoever was done with a lease is still at the window.
  private func hears(_ window: Window, _ lease: Lease) -> Bool {
    guard let (service, place) = locate(window) else { return false }
    return windows[service][place].generation == lease.generation && windows[service][place].state != .vacant
  }

  mutating func takeUpPostponed(at now: Moment, into effects: inout [QueueEffect]) {
    guard !postponed.isEmpty, !hasUnsettledTickets else { return }
    let waiting = postponed
    postponed.removeAll()
    for event in waiting { apply(event, at: now, into: &effects) }
  }

  /// The disk is full: tickets that nobody knows of and pauses are taken back, everything else is staged once more.
  mutating func unsettle(into effects: inout [QueueEffect]) {
    isJammed = true
    takeBackSeals()
    for request in takeBackTickets() { effects.append(.reply(request, .refused(.diskFull))) }
    books.paused = settledPauses
    for request in pausing {
      settling.removeAll { if case .reply(request, _) = $0 { true } else { false } }
      effects.append(.reply(request, .refused(.diskFull)))
    }
    pausing.removeAll()
    for case .reset(let request) in postponed { effects.append(.reply(request, .refused(.diskFull))) }
    postponed.removeAll()
    for change in unsettled { effects.append(.stage(change)) }
    // They come behind what was staged before, and are written with it.
    takeBackStarts(into: &effects)
  }

  /// Nothing is on its way any more: all of it waits together with what was staged since.
  private mutating func takeBackSeals() {
    for (window, lease) in underway.reversed().flatMap(\.acknowledgements) where hears(window, lease) {
      // Who is told of the last one is told of those before it.
      guard let (service, place) = locate(window), windows[service][place].unacknowledged == nil else {
        continue
      }
      windows[service][place].unacknowledged = lease
    }
    underway.removeAll()
  }

  /// A service pauses by itself: that belongs to what happened, and is not taken back where the disk is full.
  mutating func pauseForGood(_ service: Int) {
    (books.paused[service], settledPauses[service]) = (true, true)
    for place in underway.indices { underway[place].paused[service] = true }
  }

  /// Takes back every ticket that is not on disk, from the last one down.
  ///
  /// - Returns: the requests that they were for, the last one first.
  private mutating func takeBackTickets() -> [RequestNumber] {
    let requests = admissions.reversed().map(\.request) + (arriving.map { [$0.request] } ?? [])
    forgetArriving()
    for admission in admissions.reversed() {
      precondition(
        admission.first + admission.count - 1 == books.issued, "tickets are taken back from the last one down"
      )
      books.issued -= admission.count
      for (place, count) in admission.runs { books.waiting[place] -= count }
      books.delay(admission.delayed, times: -1)
    }
    admissions.removeAll()
    for line in lines.indices { lines[line].dropNewcomers() }
    delayed.dropNewcomers()
    return requests
  }
}
