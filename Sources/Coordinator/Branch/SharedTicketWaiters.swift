// Clients that wait until some tickets of a shared bank are finished. Any branch may serve these tickets, so the
// coordinator polls the database. If the database cannot be read, the coordinator tries again later.
// Invariant: each request is answered at most once. One query runs at a time, for each request in turn.

import BankModel
import Time
import Wire

final class SharedTicketWaiters: CoordinatorComponent {
  /// Request of a client that waits for tickets.
  private struct Wait {
    let requester: RequestHandle
    let day: BusinessDay
    let tickets: ClosedRange<TicketNumber>
  }

  /// Time between two queries for the same request.
  private static let pause = TimeSpan.milliseconds(100)

  private let reader: SharedStoreReader?
  /// Waiting requests; the first one is queried next.
  private var waits: [Wait] = []
  private var isQueryPending = false
  private var dueAt = MonotonicTime(nanoseconds: 0)

  init(_ dependencies: CoordinatorComponent, _ reader: SharedStoreReader?) {
    self.reader = reader
    super.init(dependencies)
  }

  /// Adds a client that waits for tickets, or refuses its request.
  func add(_ day: BusinessDay, _ first: TicketNumber, _ last: TicketNumber, _ requester: RequestHandle) {
    guard first >= 1, first <= last else {
      return server.answer(
        requester,
        .failure(Failure(.badRequest, messageDetail: MessageDetail(.ticketRangeInvalid, first, last))))
    }
    guard reader != nil else { return server.answer(requester, .failure(Failure(.notOpen))) }
    waits.append(Wait(requester: requester, day: day, tickets: first...last))
    dueAt = context.now.monotonic
  }

  /// Number of requests of a client that wait for tickets.
  func count(of session: ControlSession) -> Int { waits.count { $0.requester.session === session } }
  /// Removes the requests of a client that has disconnected.
  func forget(_ session: ControlSession) { waits.removeAll { $0.requester.session === session } }

  var nextDeadline: MonotonicTime? { waits.isEmpty || isQueryPending ? nil : dueAt }

  func poll() {
    guard !isQueryPending, let next = waits.first, dueAt <= context.now.monotonic else { return }
    isQueryPending = true
    let command = ControlCommand.awaitTickets(
      day: next.day, first: next.tickets.lowerBound, last: next.tickets.upperBound)
    reader?.poll(command) { [weak self] answer in self?.handle(answer, of: next) }
  }

  /// Answers the client, or queues its request for another query.
  private func handle(_ answer: ControlAnswer, of wait: Wait) {
    isQueryPending = false
    dueAt = context.now.monotonic + Self.pause
    // The client may have disconnected meanwhile.
    guard
      let index = waits.firstIndex(where: {
        $0.requester.session === wait.requester.session && $0.requester.number == wait.requester.number
      })
    else { return }
    let wait = waits.remove(at: index)
    switch answer {
    case .progress:
      // Query the tickets of the other clients first.
      waits.append(wait)
      if waits.count > 1 { dueAt = context.now.monotonic + Self.pause / Int64(waits.count) }
    case .failure(let failure) where failure.code == .system:
      // The tickets are safe, and will be served when the server is available again.
      waits.append(wait)
      dueAt = context.now.monotonic + SharedStoreReader.databaseRetryPause
    default: server.answer(wait.requester, answer, from: .reader)
    }
  }
}
