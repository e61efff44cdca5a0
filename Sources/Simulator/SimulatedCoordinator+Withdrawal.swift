// Owns how the simulated coordinator takes a request back that its client has withdrawn, after the real one: one that is
// half taken in with everything of it, one that waits before it is looked at, and one that was taken in not at all.
// It must not know why a client changes its mind. Invariant: the withdrawal itself has no answer; the request has one.

import BankModel
import QueueCore
import Wire

extension SimulatedCoordinator {
  /// A client gives a request of its own up.
  func withdraw(_ number: UInt32, _ session: ClientSession, _ link: Int) {
    if session.listNumber == number {
      (session.list, session.listNumber) = ([], nil)
      return answer(link, number, .failure(Failure(.withdrawn)))
    }
    guard let request = openEnqueue(number, on: link) else { return }
    guard let place = intake.firstIndex(where: { $0.request == request }) else { return }
    if bug == .takesInTheWithdrawn { return tell(request) }
    if intake[place].taken == 0 {
      intake.remove(at: place)
      return giveUp(request)
    }
    guard core.arriving?.request == request else { return }
    giveUpIntake(of: request)
  }

  private func openEnqueue(_ number: UInt32, on link: Int) -> RequestNumber? {
    let found = requests.first { _, open in
      guard case .enqueue = open.purpose else { return false }
      return open.link == link && open.number == number
    }
    return found?.key
  }

  /// A client empties the queue: what is half taken in is given up, and those who were let in are on disk first.
  func reset(_ link: Int, _ number: UInt32) {
    if !core.isJammed, !core.isShort {
      if let arriving = core.arriving {
        giveUpIntake(of: arriving.request, Failure(.withdrawn, remark: Remark(.resetMeanwhile)))
      } else if core.hasUnsettledTickets {
        commit()
      }
      guard isAlive else { return }
    }
    happen(.reset(open(link, number, .status)))
  }

  private func giveUp(_ request: RequestNumber, _ failure: Failure = Failure(.withdrawn)) {
    world.checker.withdrawn(request)
    tell(request, failure)
  }

  private func tell(_ request: RequestNumber, _ failure: Failure = Failure(.withdrawn)) {
    guard let entry = requests.removeValue(forKey: request) else { return }
    answer(entry.link, entry.number, .failure(failure))
  }

  /// The request that is half taken in is given up. What the others have staged is committed first; what is on disk of the
  /// request stands under numbers that nobody has, and is taken out before they are anybody else's.
  private func giveUpIntake(of request: RequestNumber, _ failure: Failure = Failure(.withdrawn)) {
    commit()
    // A full disk has refused it, and its client was told so.
    guard isAlive, core.arriving?.request == request else { return }
    if failure.remark == nil {
      world.statistics.withdrawnInPart += 1
    } else {
      world.statistics.givenUpForResets += 1
    }
    intake.removeAll { $0.request == request }
    giveUp(request, failure)
    happen(.intakeAbandoned)
    guard isAlive else { return }
    commit()
  }
}
