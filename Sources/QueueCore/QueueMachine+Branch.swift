// Owns what is different where several branches share the books, of which this queue is one. It must not know a database: a page
// that was claimed, a lease that holds and one that was lost are events.
//
// A branch has whom it has claimed: a page of a line is asked for as ever, and whoever comes with it is the branch's until it is
// finished, put off, put aside or given back. So the books of a branch count those who have come into its hands and are still
// there, or were finished by it; how many wait in the bank only the database knows. It gives the tickets, too. Whoever is
// delayed or a dead letter is nobody's.
//
// A branch has its customers for as long as its lease lasts. It hands out nobody behind the end of it, by its own steady clock;
// to be wrong there costs work, and never an effect, because whatever the branch says then has none. Where it is lost the tellers
// are asked to give everybody back, and nothing that waited for the disk is waited for any longer.
//
// Invariants: issued = waiting + serving + served + cancelled, after every event, as of other books; whoever stands in line is in
// memory; a page may be empty.

import BankModel
import Time

/// What a branch knows of the books that it shares.
struct BranchKnowledge: Sendable {
  /// Until when nobody else takes its customers; nil before the first word of it, and when it was lost.
  var leaseEnd: MonotonicTime?
  /// Who is not finished in the whole bank and is no dead letter, by the index of the service.
  var remaining: [Int64] = []
}

extension QueueMachine {
  /// Whether customers may be handed out at this moment.
  func mayServe(at now: Moment) -> Bool {
    guard policy.isShared else { return true }
    return branch.leaseEnd.map { now.monotonic < $0 } ?? false
  }

  /// Whether somebody is left in the whole bank who can be served here.
  var isAnybodyLeftForUs: Bool {
    guard policy.isShared else { return false }
    return branch.remaining.indices.contains {
      branch.remaining[$0] > 0 && isServable(Service(index: $0))
    }
  }

  /// Has a page claimed where few are in memory, or somebody is wanted and nobody is.
  mutating func claim(_ place: Int, isWanted: Bool, into effects: inout [QueueEffect]) {
    guard lines[place].claimsNow(below: isWanted ? 1 : policy.page / 2) else { return }
    effects.append(.loadPage(books.waiting.lines[place], after: 0, limit: policy.page))
  }

  /// A page was claimed: these are in the hands of the branch.
  mutating func receive(_ page: [Customer], _ line: Line) {
    let place = index(of: line)
    lines[place].join(claimed: page)
    books.waiting[place] += Int64(page.count)
    books.issued += Int64(page.count)
  }

  /// Whom somebody else has finished before is not counted here.
  mutating func takeBackEffects(of tickets: [TicketNumber], into effects: inout [QueueEffect]) {
    let count = (underway.first?.counts ?? unsealed).changes
    for change in unsettled.prefix(count) {
      guard case .finish(let customer, _, let receipt) = change, tickets.contains(customer.ticket) else {
        continue
      }
      uncount(receipt)
      effects.append(.reportWithoutEffect(customer, receipt))
    }
  }

  private mutating func uncount(_ receipt: Receipt) {
    books.issued -= 1
    guard receipt.outcome != .cancelled else { return books.cancelled -= 1 }
    books.served -= 1
    books.servedByService[receipt.service.index] -= 1
  }

  /// Another branch has taken a customer out: a worker that has it is asked to give it back, and nothing is written of it here.
  /// A completion that was handed over before finds no customer, and has no effect.
  mutating func lose(_ ticket: TicketNumber, at now: Moment, into effects: inout [QueueEffect]) {
    takeBackStarts(into: &effects)
    for place in lines.indices {
      guard lines[place].remove(ticket) != nil else { continue }
      books.waiting[place] -= 1
      books.issued -= 1
      return
    }
    for service in windows.indices {
      for place in windows[service].indices where windows[service][place].holds(ticket) {
        let window = windows[service][place].window
        let index = windows[service][place].ahead.firstIndex { $0.customer.ticket == ticket }
        let customer: Customer
        if let index {
          customer = windows[service][place].ahead.remove(at: index).customer
          servingCount -= 1
        } else {
          guard let released = release(service, place) else { return }
          customer = released
        }
        let lease = windows[service][place].lease(of: customer)
        books.waiting[customer.line] -= 1
        books.issued -= 1
        effects.append(.announce(.interrupted, window, lease, customer))
        effects.append(.recall(window, lease))
        windows[service][place].recalled.append(lease)
        if index == nil { goOn(service, place, now, into: &effects) }
        return
      }
    }
  }

  /// The branch has lost its lease: whom it has in hand is not its own, and what is not on disk never will be.
  mutating func loseEverybody(at now: Moment, into effects: inout [QueueEffect]) {
    branch.leaseEnd = nil
    forgetStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices { askBack(service, place, at: now, into: &effects) }
    }
    for change in unsettled { if case .finish(_, _, let receipt) = change { uncount(receipt) } }
    unsettled.removeAll()
    unsettledBytes = 0
    underway.removeAll()
    for place in lines.indices {
      books.issued -= books.waiting[place]
      books.waiting[place] = 0
      lines[place] = WaitingLine(
        stored: 0, capacity: policy.capacity(ofLineAt: place), version: lines[place].version &+ 1)
      lines[place].hearOfMore()
    }
    // To pause is the branch's own business.
    let paused = Set(pausing)
    for case .reply(let request, let answer) in settling {
      effects.append(.reply(request, paused.contains(request) ? answer : .refused(.leaseLost)))
    }
    settling.removeAll()
    pausing.removeAll()
    settledPauses = books.paused
    isJammed = false
  }

  /// Nobody was told of those who were to begin.
  private mutating func forgetStarts(into effects: inout [QueueEffect]) {
    var wanted: [QueueEffect] = []
    takeBackStarts(into: &wanted)
    effects += wanted.filter { if case .stage = $0 { false } else { true } }
  }

  /// The teller is asked to give everybody back; whatever it answers changes nothing any more.
  private mutating func askBack(
    _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    windows[service][place].unacknowledged = nil
    guard let customer = release(service, place) else { return }
    let window = windows[service][place].window
    let hand = [customer] + releaseAhead(service, place).map(\.customer)
    let leases = hand.map { windows[service][place].lease(of: $0) }
    for (customer, lease) in zip(hand, leases) {
      effects.append(.announce(.interrupted, window, lease, customer))
    }
    // The last one first, so that nobody's turn comes who was taken back.
    for lease in leases.reversed() { effects.append(.recall(window, lease)) }
    guard !window.isOutside else {
      windows[service][place].recalled += leases
      return free(service, place, into: &effects)
    }
    windows[service][place].state = .recalling(leases + windows[service][place].recalled)
    windows[service][place].recalled = []
    windows[service][place].deadline = now.attended + patience(service)
  }
}
