// Clients that wait until some tickets of a shared bank are finished. Any branch may serve these tickets, so the
// coordinator polls the database. If the database cannot be read, the coordinator tries again later.
// Invariant: each request is answered at most once. One query runs at a time, for each request in turn.

import BankModel
import Time
import Wire

final class SharedWaits: BankPart {
  private struct Wait {
    let seat: Seat
    let day: BusinessDay
    let tickets: ClosedRange<TicketNumber>
  }

  /// Time between two queries for the same request.
  private static let pause = TimeSpan.milliseconds(100)

  private let reader: BooksReader?
  private var waits: [Wait] = []
  private var isAsking = false
  private var dueAt = MonotonicTime(nanoseconds: 0)

  init(_ ground: BankPart, _ reader: BooksReader?) {
    self.reader = reader
    super.init(ground)
  }

  func add(_ day: BusinessDay, _ first: TicketNumber, _ last: TicketNumber, _ seat: Seat) {
    guard first >= 1, first <= last else {
      return server.answer(seat, .failure(Failure(.badRequest, remark: Remark(.noRange, first, last))))
    }
    guard reader != nil else { return server.answer(seat, .failure(Failure(.notOpen))) }
    waits.append(Wait(seat: seat, day: day, tickets: first...last))
    dueAt = context.now.monotonic
  }

  func count(of session: ControlSession) -> Int { waits.count { $0.seat.session === session } }
  func forget(_ session: ControlSession) { waits.removeAll { $0.seat.session === session } }

  var nextDeadline: MonotonicTime? { waits.isEmpty || isAsking ? nil : dueAt }

  /// Sends the next query if it is due.
  func look() {
    guard !isAsking, let next = waits.first, dueAt <= context.now.monotonic else { return }
    isAsking = true
    let command = ControlCommand.awaitTickets(
      day: next.day, first: next.tickets.lowerBound, last: next.tickets.upperBound)
    reader?.look(command) { [weak self] answer in self?.hear(answer, of: next) }
  }

  private func hear(_ answer: ControlAnswer, of wait: Wait) {
    isAsking = false
    dueAt = context.now.monotonic + Self.pause
    // The client may have disconnected meanwhile.
    guard
      let place = waits.firstIndex(where: {
        $0.seat.session === wait.seat.session && $0.seat.number == wait.seat.number
      })
    else { return }
    let wait = waits.remove(at: place)
    switch answer {
    case .progress:
      // Query the tickets of the other clients first.
      waits.append(wait)
      if waits.count > 1 { dueAt = context.now.monotonic + Self.pause / Int64(waits.count) }
    case .failure(let failure) where failure.code == .system:
      // The tickets are safe, and will be served when the server is available again.
      waits.append(wait)
      dueAt = context.now.monotonic + BooksReader.troublePause
    default: server.answer(wait.seat, answer)
    }
  }
}
