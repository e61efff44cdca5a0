// Owns when what is staged is committed, and what follows when it is on disk: at once, or later, where a store answers later.
// Then the bank goes on serving and staging into the next transaction meanwhile, and the results are taken once in each turn.
// Invariants: the queue hears of a seal before anything else can be staged, so that what it takes for a transaction is what
// the store has been given; and of results in the order in which they come.
// Failure: StoreError, which `fail(_:)` deals with.

import BankModel
import Posix
import QueueCore
import Time

extension QueueDriver {
  /// When what is staged is to be committed; nil while there is nothing to commit, or as many are on their way as may be.
  /// - Parameter isHurried: Whether it is committed in its own turn, though nobody waits for it. What a slice of a large
  ///   request has staged beside others who are served is, so that the time for it is the intake's.
  func commitDue(isHurried: Bool) -> MonotonicTime? {
    guard machine.hasRoomUnderway else { return nil }
    return engine.due(
      isUnsettled: machine.isUnsealed,
      isAwaited: machine.hasPromises || followers.tickets.owesAnEnd || isHurried)
  }

  /// Commits where it is time to; see ``commitDue(isHurried:)``.
  func commitIfDue(isHurried: Bool) {
    guard let due = commitDue(isHurried: isHurried), due <= context.now.monotonic else { return }
    commit()
  }

  /// Puts everything that is staged on disk, where that may be done now, and tells everybody who waits for it; or puts it on
  /// its way. Where as many are on their way as may be these are waited for.
  func commit() {
    if !machine.hasRoomUnderway { awaitResults() }
    guard machine.hasRoomUnderway else { return }
    // The time of business alone can wait for what is on its way.
    guard engine.canCommit, !engine.isUnderway || engine.hasStaged || machine.isUnsealed else { return }
    let isSaidBefore = Kernel.makes("saysCommittedTooEarly") && !machine.isTakingIn
    if isSaidBefore { happen(.committed) }
    var progress = CommitProgress.onDisk
    do throws(StoreError) { progress = try engine.commit(machine.books, arriving: machine.arriving) } catch {
      guard case .diskFull = error, Kernel.makes("takesAFullDiskForACommit") else { return fail(error) }
    }
    guard progress == .onDisk else { return putOnItsWay() }
    followers.confirmEvents()
    if !isSaidBefore { apply(.committed) }
    tell()
    noteRoom()
  }

  private func putOnItsWay() {
    followers.sealEvents()
    if !Kernel.makes("forgetsToSeal") { apply(.sealed) }
    noteRoom()
    if engine.isKeptTooRarely { awaitResults() }
  }

  /// Waits until nothing is on its way any more, and does what follows from it.
  func awaitResults() {
    engine.awaitResults()
    takeResults()
  }

  /// Hears what has come to the disk since the last time, and tells everybody who waits for it: of one transaction after the
  /// other, because what one brings about may be in the way of what waits for the next.
  func takeResults() {
    while engine.mayHaveResults {
      let wasJammed = machine.isJammed
      var result: QueueEvent?
      do throws(StoreError) { result = try engine.takeResult() } catch { return fail(error) }
      guard let result else { return }
      guard case .committed = result else {
        if case .branchLost = result {
          followers.forgetUncertainEvents()
          hands?.leaveAll()
        }
        happen(result)
        continue
      }
      followers.confirmEvents()
      apply(.committed)
      if wasJammed { noteRoomAgain() }
      tell()
      noteRoom()
    }
  }

  /// Before anything of this is performed, and so before anything is staged again: now the store shows what is on disk, where
  /// nothing else is on its way. Who is told may bring about more, as an audit that hears what the stock has given back: that
  /// is performed behind the rest.
  private func tell() {
    isTelling = true
    onCommitted()
    isTelling = false
    perform()
  }
}
