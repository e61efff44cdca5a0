// Owns how a request for tickets that is too large to go as a whole comes into the books: slice by slice before any lock is taken,
// then its tickets, and then its customers.
// Invariant: its client is answered when it has its tickets and all of its customers are there. What is lost on the way is sent
// again under the same name, and nothing of it is there twice.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

extension SharedRequests {
  /// Sends the next slices of a request, a few at once: others go between them.
  func sendSlices(of id: Int64, _ branch: PostgresBranch) {
    while let index = tasks.firstIndex(where: { $0.id == id }), let customers = tasks[index].arriving,
      let staging = tasks[index].staging, let slice = staging.next(of: customers, bounds)
    {
      guard customers.lines.allSatisfy({ context.lanes[$0] != nil }) else {
        _ = addLanes(customers.lines, for: branch.id)
        return
      }
      if tasks[index].name == nil {
        let number = context.numbers.next()
        // It names the request, and no commit.
        context.numbers.release(number)
        tasks[index].name = (branch.epoch, number)
      }
      guard let name = tasks[index].name else { return }
      let request = branch.arrive(customers, slice, part: staging.parts, as: name, lanes: context.lanes)
      let run = staging.run
      let isTaken = link.send(request) { [weak self] answer in
        self?.arrived(id, run, customers.count, answer, branch)
      }
      guard isTaken else { return }
      tasks[index].staging?.send(slice)
    }
  }

  private func arrived(
    _ id: Int64, _ run: Int, _ count: Int, _ answer: PostgresAnswer<Bool>, _ branch: PostgresBranch
  ) {
    guard context.branch == branch, let index = tasks.firstIndex(where: { $0.id == id }),
      tasks[index].staging?.run == run
    else { return }
    switch answer {
    case .done(true): tasks[index].staging?.land(of: count)
    case .done(false): context.fenced()
    case .refused(let error) where !error.isPassing:
      refused(id, error)
    // Slices that have arrived before stay as they are.
    case .refused, .unknown:
      tasks[index].staging?.beginAgain()
      retryAt = SystemClock.monotonic() + Self.pause
    }
    pump()
  }

  /// Has the customers of a large request come in that has its tickets, until all of them are there.
  func unpack(_ name: ArrivingName) {
    guard unpacking.insert(name).inserted else { return }
    ask(
      nil, outlives: false,
      finish: { [unowned self] answer in
        unpacking.remove(name)
        switch answer {
        case .requeued(0): cameIn(name)
        case .requeued: unpack(name)
        // It is asked again behind the next look.
        default: break
        }
      }, SharedOperations.unpack(name))
  }

  private func cameIn(_ name: ArrivingName) {
    guard name.branch == context.lastBranch?.id else { return }
    for task in tasks where task.name.map({ $0 == (name.epoch, name.number) }) == true {
      if let given = task.staging?.given { end(task.id, given) }
    }
  }

  /// Behind the beginning of an epoch: slices that are of no request any more are forgotten, and what has its tickets comes in.
  func resumeLarge(_ branch: PostgresBranch) {
    forgetLeft()
    for task in tasks where task.staging?.given != nil {
      if let name = task.name {
        unpack(ArrivingName(branch: branch.id, epoch: name.epoch, number: name.number))
      }
    }
  }

  /// Forgets slices that are of no request any more: of one that was refused, or of a process before this one. Which those are is
  /// looked at when it is sent, behind all slices that were sent before.
  func forgetLeft() {
    ask(nil, outlives: false, finish: { _ in }) { [unowned self] branch, number, tries in
      let kept = tasks.compactMap { $0.staging == nil ? nil : $0.name }
      return SharedOperations.forgetArriving(besides: kept)(branch, number, tries)
    }
  }
}
