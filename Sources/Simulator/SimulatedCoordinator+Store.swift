// Owns how the simulated coordinator uses its store, line for line as the real one does: staging, reading, the moment of
// the commit, a full disk, and a disk that fails. It must not know what the changes mean.
// Invariant: a change is staged before anything that was wanted after it. A store that contradicts itself is the end of
// a history, because no fault explains it.

import BankModel
import QueueCore
import Storage

extension SimulatedCoordinator {
  private static let diskPause = TimeSpan.milliseconds(250)

  func stage(_ change: StoreChange) {
    if change.leavesSomethingPutBy { releases.look() }
    guard retryAt == nil else { return }
    do throws(StoreError) {
      try store.stage(change)
      if stagedSince == nil { stagedSince = now.monotonic }
      if bug == .givesBackTooEarly, change.leavesSomethingPutBy {
        try releases.advance(store, now: now.monotonic)
        stock.endTurn()
      }
    } catch {
      storeFailed(error)
    }
  }

  func read(_ effect: QueueEffect) {
    guard retryAt == nil else {
      if bug != .forgetsWhatItHeldBack { heldBack.append(effect) }
      return
    }
    do throws(StoreError) {
      switch effect {
      case .loadPage(let line, let after, let limit):
        apply(.pageLoaded(line, try store.page(of: line, after: after, limit: limit)))
      case .lookUp(let request, let ticket):
        apply(.found(request, ticket: ticket, try store.find(ticket)))
      case .loadDead(let request, let limit):
        let letters = try store.customers(in: .dead, after: nil, limit: limit)
        apply(.deadLoaded(request, letters.map(\.customer)))
      default: preconditionFailure("only reads are read")
      }
    } catch {
      storeFailed(error)
      // What could not be read now is read when there is room again.
      if isAlive { heldBack.append(effect) }
    }
  }

  var commitDue: MonotonicTime? {
    guard retryAt == nil, let stagedSince else {
      return retryAt == nil && core.isUnsettled ? now.monotonic : nil
    }
    if core.hasPromises { return stagedSince }
    return max(stagedSince, lastCommit + plan.gather)
  }

  func commitIfDue() {
    guard isAlive, let due = commitDue, due <= now.monotonic else { return }
    commit()
  }

  func commit() {
    // While the disk is full the store has forgotten what was staged, and the books would be kept without it.
    guard retryAt == nil || bug == .commitsToAFullDisk, survives() else { return }
    if bug == .saysCommittedTooEarly, !core.isTakingIn {
      stagedSince = nil
      happen(.committed)
      // The commit itself comes, but only when everything was said.
      flushTellers()
      flushClients()
      guard survives() else { return }
    }
    do throws(StoreError) { try store.commit(core.books, arriving: core.arriving) } catch {
      guard bug == .takesAFullDiskForACommit, case .diskFull = error else { return storeFailed(error) }
      world.checker.committed(core.books, in: world.disk)
    }
    takeTime()
    stagedSince = nil
    lastCommit = now.monotonic
    guard survives(), bug != .saysCommittedTooEarly else { return }
    happen(.committed)
    if isAlive { noteRoom() }
  }

  func retryStore() {
    retryAt = nil
    stagedSince = nil
    happen(.commitRefused)
    guard isAlive, retryAt == nil else { return }
    commit()
    guard isAlive, retryAt == nil else { return }
    effects.append(contentsOf: heldBack)
    heldBack.removeAll()
    perform()
  }

  func storeFailed(_ error: StoreError) {
    world.trace.line(now.monotonic, "  the store failed: \(error)")
    guard case .diskFull = error else {
      if case .damaged(_, let detail) = error { world.violate(.storeContradiction, detail.description) }
      // Nobody knows any more what is on disk: the process ends, and the next one reads it again.
      return die()
    }
    releases.putOff()
    store.rollBack()
    stagedSince = nil
    let isFirst = !core.isJammed
    retryAt = isFirst ? now.monotonic : now.monotonic + Self.diskPause
    noteRoom()
    if isFirst {
      let before = effects.count
      apply(.commitRefused)
      abandonIntake()
      guard bug != .stagesTwice else { return }
      // What the queue stages again is staged when the disk is tried again; who was refused learns it now.
      let refused = effects[before...].filter { if case .stage = $0 { false } else { true } }
      effects.replaceSubrange(before..., with: refused)
      perform()
    }
  }

  /// Tells the queue whether the store is short of room.
  func noteRoom() {
    let isShort = store.isShort
    room.note(isShort: isShort, at: now.monotonic)
    guard isShort != isToldShort else { return }
    isToldShort = isShort
    apply(.roomChanged(isShort: isShort))
    perform()
  }

  func lookForRoomIfDue() {
    guard room.takeDue(at: now.monotonic) else { return }
    world.lookForRoom()
    noteRoom()
  }

  // MARK: - What was put by

  /// The stock has given back what a ticket held. While the disk is full the note stays, and the stock is asked again.
  func released(_ ticket: TicketOfDay) {
    guard isAlive else { return }
    takeTime()
    if world.releaseMeetsItsEnd() { return die() }
    if retryAt == nil { stage(.released(ticket)) } else { releases.putOff() }
  }

  /// Asks the stock to give back what cancelled tickets hold.
  func advanceReleases() {
    guard isAlive, world.hasStock else { return }
    if retryAt == nil {
      do throws(StoreError) { try releases.advance(store, now: now.monotonic) } catch { storeFailed(error) }
    }
    if isAlive, stock.nextDeadline != nil { stock.endTurn() }
  }
}
