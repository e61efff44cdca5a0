// Owns how the queue's effects are performed, in order, and when the store commits.
// It decides nothing about customers. Invariant: a change is staged before anything that was wanted after it.

import BankModel
import Glibc
import Logbook
import Posix
import QueueCore
import Storage
import Wire

extension Coordinator {
  /// How long a full disk is left alone before it is tried again.
  static let diskPause = TimeSpan.milliseconds(250)

  /// Performs everything that the queue wants, also what follows from performing it.
  ///
  /// Performing can make something happen that wants more: that is appended, and performed in its turn.
  func perform() {
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    var place = 0
    while place < effects.count {
      let effect = effects[place]
      place += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
  }

  private func perform(_ effect: QueueEffect) {
    switch effect {
    case .stage(let change): stage(change)
    case .loadPage, .lookUp, .loadDead: read(effect)
    case .assign(let window, let lease, let customer):
      var assignment = Assignment(day: machine.books.day, customer: customer, lease: lease)
      if customer.service.drawsOnStock {
        assignment.order = booksName.order(
          day: assignment.day, ticket: customer.ticket, issuedAt: customer.issuedAt)
      }
      staff.tell(window, .assign(assignment))
    case .acknowledge(let window, let lease):
      staff.tell(window, .acknowledged(lease), canWait: machine.numbers(of: window)?.lease != nil)
    case .recall(let window, let lease): staff.tell(window, .recall(lease))
    case .announceClosing(let window): staff.tell(window, .closing)
    case .openWindow(let window): staff.open(window, at: now)
    case .closeWindow(let window): staff.close(window)
    case .dismissTeller(let window): staff.dismiss(window, at: now)
    case .endStuckTeller(let window, let generation): staff.abort(window, generation, at: now)
    case .endRogueTeller(let window, let generation, let reason):
      staff.expel(window, generation, reason: reason, at: now)
    case .announce(let happening, let window, let lease, let customer):
      followers.announce(happening, window, lease, customer, day: machine.books.day, at: now)
    case .reportDead(let customer, let window, let end, let processEnd):
      reportDead(customer, window, end, processEnd)
    case .reply(let request, let answer): finish(request, with: answer)
    case .reportDrained: drained()
    }
  }

  // MARK: - The store

  func stage(_ change: StoreChange) {
    let isRepeated = repeats > 0
    if isRepeated { repeats -= 1 }
    followers.note(change, isRepeated: isRepeated)
    if change.leavesSomethingPutBy { releases.look() }
    guard retryAt == nil else { return }
    do throws(StoreError) {
      try store.stage(change)
      if stagedSince == nil { stagedSince = now.monotonic }
    } catch {
      storeFailed(error)
    }
  }

  /// Reads what the queue asked for. While the disk is full the store has forgotten what was staged, and a page
  /// could show who has long gone: reading waits as well.
  private func read(_ effect: QueueEffect) {
    guard retryAt == nil else {
      heldBack.append(effect)
      return
    }
    // A million dead letters are not brought back in one breath.
    let isLong = if case .loadDead = effect { true } else { false }
    if isEmptying || isLong && SystemClock.moment().monotonic.since(now.monotonic) >= PatientWork.turn {
      patient.reads.append(effect)
      return
    }
    do throws(StoreError) {
      switch effect {
      case .loadPage(let line, let after, let limit):
        let page = try store.page(of: line, after: after, limit: limit)
        machine.apply(.pageLoaded(line, page), at: now, into: &effects)
      case .lookUp(let request, let ticket):
        let stored = try store.find(ticket)
        machine.apply(.found(request, ticket: ticket, stored), at: now, into: &effects)
      case .loadDead(let request, let limit):
        let letters = try store.customers(in: .dead, after: nil, limit: limit).map(\.customer)
        machine.apply(.deadLoaded(request, letters), at: now, into: &effects)
      default: preconditionFailure("only reads are read")
      }
    } catch {
      storeFailed(error)
      // Nothing else would ask for it again, and a line whose page never comes is served no more.
      heldBack.append(effect)
    }
  }

  /// When the open transaction is to be committed; nil while there is nothing to commit.
  ///
  /// Whoever waits for a reply is not kept waiting. Completions alone, for which nobody waits, are gathered while
  /// the bank is busy, as ``CommitPacing`` says, and are committed at once when it was quiet. What a slice has staged
  /// beside others who are served is committed in its own turn, so that the time for it is the intake's.
  var commitDue: MonotonicTime? {
    guard canCommit else { return nil }
    guard let stagedSince else { return machine.isUnsettled ? now.monotonic : nil }
    if machine.hasPromises || followers.tickets.owesAnEnd || isIntakeShared { return stagedSince }
    return pacing.due(stagedSince: stagedSince, gather: configuration.gather)
  }

  func commitIfDue() {
    guard let due = commitDue, due <= now.monotonic else { return }
    commit()
  }

  /// Whether what is staged may be committed now. While a reset is being written it may not. While the disk is full the
  /// store has forgotten what was staged, and the books would be kept without it. A request that is half taken in is
  /// nobody's before its last slice, whatever is committed meanwhile; see ``QueueMachine/arriving``.
  var canCommit: Bool { retryAt == nil && !isEmptying }

  /// Puts everything that is staged on disk, where that may be done now, and tells everybody who waits for it.
  func commit() {
    guard canCommit else { return }
    let begin = SystemClock.moment().monotonic
    let books = machine.books
    do throws(StoreError) {
      try store.commit(books, arriving: machine.arriving)
    } catch {
      storeFailed(error)
      return
    }
    takeTime()
    stagedSince = nil
    pacing.committed(from: begin, to: now.monotonic)
    keptBooks = books
    followers.confirmEvents()
    followers.committed = true
    machine.apply(.committed, at: now, into: &effects)
    // Before anything of this is performed, and so before anything is staged again: now the store shows what is on disk.
    answerReadings()
    perform()
    noteRoom()
  }

  /// Everybody has been told: the store does what it has put off.
  func tidyStore() {
    guard retryAt == nil else { return }
    do throws(StoreError) { try store.tidyUp() } catch { storeFailed(error) }
  }

  /// After a full disk: everything that is not on disk yet is staged again.
  func retryStore() {
    retryAt = nil
    stagedSince = nil
    stageAgain()
    guard retryAt == nil else { return }
    commit()
    guard retryAt == nil else { return }
    log.write(event: "disk_available", at: now)
    effects.append(contentsOf: heldBack)
    heldBack.removeAll()
    perform()
  }

  /// Everything that was staged and forgotten is staged again. What happens in the same event besides is new.
  func stageAgain(after event: QueueEvent = .commitRefused) {
    repeats = machine.unsettledCount
    happen(event)
    repeats = 0
  }

  func storeFailed(_ error: StoreError) {
    guard case .diskFull = error else { end(because: error) }
    releases.putOff()
    store.rollBack()
    stagedSince = nil
    let isFirst = !machine.isJammed
    // The store has made what room it could: at the first time it is tried again at once.
    retryAt = isFirst ? now.monotonic : now.monotonic + Self.diskPause
    noteRoom()
    if isFirst {
      log.write(event: "disk_full", level: .error, at: now) { $0.field("msg", error.description) }
      // The queue refuses tickets that nobody was told of, and these learn it now. What it stages again is staged
      // when the disk is tried again, and not twice.
      var refused: [QueueEffect] = []
      var repeats = machine.unsettledCount
      machine.apply(.commitRefused, at: now, into: &refused)
      for effect in refused {
        guard case .stage(let change) = effect else {
          effects.append(effect)
          continue
        }
        if repeats == 0 { followers.note(change, isRepeated: false) }
        repeats = max(0, repeats - 1)
      }
      intake.abandon()
      perform()
    }
  }

  /// Nobody knows any more what is on disk: this process ends, and the next one reads it again.
  private func end(because error: StoreError) -> Never {
    log.write(event: "store_failed", level: .error, at: now) { $0.field("msg", error.description) }
    log.flush()
    _ = try? StandardStreams.write("bankd: \(error.description)\n", to: .error)
    exit(1)
  }

  private func reportDead(
    _ customer: Customer, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?
  ) {
    log.write(event: "dead", level: .warn, at: now) {
      $0.field("day", machine.books.day)
      $0.field("ticket", customer.ticket)
      $0.field("service", customer.service.name)
      $0.field("window", window.description)
      $0.field("attempts", customer.attempts)
      $0.field("end", end.name)
      switch processEnd {
      case .code(let code): $0.field("code", code)
      case .signal(let signal): $0.field("signal", signal)
      case nil: break
      }
    }
  }
}
