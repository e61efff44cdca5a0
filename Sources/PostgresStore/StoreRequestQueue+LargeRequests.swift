// Transfer of a request for tickets that is too large to be sent as a whole: its slices are sent first, without the
// intake lock. Then its tickets are issued. Then its customers are moved to their lines.
// Invariant: the client receives the issued tickets after all customers of the request were moved. A lost slice is sent
// again under the same name, and no slice is stored twice.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

extension StoreRequestQueue {
  /// Sends the next slices of a large request, a few at a time, so that other requests are sent in between.
  func sendSlices(of id: Int64, _ branch: PostgresBranch) {
    while let index = tasks.firstIndex(where: { $0.id == id }), let customers = tasks[index].columns,
      let staging = tasks[index].staging, let slice = staging.next(of: customers, bounds)
    {
      guard customers.lines.allSatisfy({ context.lanes[$0] != nil }) else {
        _ = addLanes(customers.lines, for: branch.id)
        return
      }
      if tasks[index].name == nil {
        let number = context.numbers.next()
        // The number names the request, not a commit.
        context.numbers.release(number)
        tasks[index].name = (branch.epoch, number)
      }
      guard let name = tasks[index].name else { return }
      let request = branch.storeSlice(customers, slice, part: staging.parts, as: name, lanes: context.lanes)
      let attempt = staging.attempt
      let isSent = link.send(request) { [weak self] answer in
        self?.handleSliceReply(id, attempt, customers.count, answer, branch)
      }
      guard isSent else { return }
      tasks[index].staging?.send(slice)
    }
  }

  /// Handles the result of a sent slice. After a temporary refusal or an unknown outcome the transfer restarts.
  private func handleSliceReply(
    _ id: Int64, _ attempt: Int, _ count: Int, _ answer: PostgresAnswer<Bool>, _ branch: PostgresBranch
  ) {
    guard context.branch == branch, let index = tasks.firstIndex(where: { $0.id == id }),
      tasks[index].staging?.attempt == attempt
    else { return }
    switch answer {
    case .done(true): tasks[index].staging?.countStored(of: count)
    case .done(false): context.fenced()
    case .refused(let error) where !error.isTransient:
      refused(id, error)
    // The slices that are already stored remain.
    case .refused, .unknown:
      tasks[index].staging?.restart()
      retryAt = SystemClock.monotonic() + Self.pause
    }
    pump()
  }

  /// Moves the customers of a large request with tickets to their lines, until all are moved.
  func moveSlices(_ name: LargeRequestID) {
    guard movingRequests.insert(name).inserted else { return }
    ask(
      nil, repeatsInLaterEpoch: false,
      finish: { [unowned self] answer in
        movingRequests.remove(name)
        switch answer {
        case .requeued(0): finishLargeRequest(name)
        case .requeued: moveSlices(name)
        // A later poll repeats the move.
        default: break
        }
      }, StoreOperations.moveSlices(name))
  }

  /// Answers the client of a large request whose customers are all in their lines.
  private func finishLargeRequest(_ name: LargeRequestID) {
    guard name.branch == context.lastBranch?.id else { return }
    for task in tasks where task.name.map({ $0 == (name.epoch, name.number) }) == true {
      if let given = task.staging?.given { end(task.id, given) }
    }
  }

  /// Deletes slices without a request, and continues requests that have tickets.
  func resumeLargeRequests(_ branch: PostgresBranch) {
    deleteOrphanedSlices()
    for task in tasks where task.staging?.given != nil {
      if let name = task.name {
        moveSlices(LargeRequestID(branch: branch.id, epoch: name.epoch, number: name.number))
      }
    }
  }

  /// Deletes slices without a request: those of refused requests, and those of an earlier process. The list of
  /// requests to keep is made when the statement is sent, so it contains all requests whose slices were sent before.
  func deleteOrphanedSlices() {
    ask(nil, repeatsInLaterEpoch: false, finish: { _ in }) { [unowned self] branch, number, earlierAttempts in
      let kept = tasks.compactMap { $0.staging == nil ? nil : $0.name }
      return StoreOperations.deleteSlices(besides: kept)(branch, number, earlierAttempts)
    }
  }
}
