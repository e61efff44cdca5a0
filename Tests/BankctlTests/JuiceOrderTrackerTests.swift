// The tickets of an abandoned order of juice, at a coordinator that plays a reset between a look and the
// cancel.
import BankModel
import ControlClient
import Posix
import Synchronization
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("An order of juice that is cancelled")
struct JuiceOrderTrackerTests {
  private static func juice(day: Int64, _ state: CustomerState) -> TicketReport {
    var ticket = waiting(1, service: .juice)
    (ticket.day, ticket.state) = (day, state)
    if state == .done {
      ticket.receipt = ReceiptReport(
        Receipt(
          sequence: 1, day: day, ticket: 1, service: .juice, priority: .regular, outcome: .cancelled,
          window: nil,
          generation: 0, pid: 0, attempts: 0, amount: 0, account: 0, issuedAt: WallTime(milliseconds: 0),
          startedAt: nil, finishedAt: WallTime(milliseconds: 1)), ServiceDirectory())
    }
    return ticket
  }

  @Test("a reset in the middle: another customer with the same number on the new day stays")
  func reset() throws {
    // The day of the bank, and whether the other customer was cancelled.
    let state = Mutex((day: Int64(1), isHarmed: false))
    let branch = try FakeBranch { command, _ in
      state.withLock { state in
        switch command {
        case .status: return [.answer(.status(picture()))]
        case .ticket:
          let isOver = state.day == 2
          return [.answer(.ticket(Self.juice(day: 1, isOver ? .done : .waiting)))]
        case .cancel(_, let day):
          state.day = 2
          guard let day, day != state.day else {
            state.isHarmed = true
            return [.answer(.ticket(Self.juice(day: 2, .done)))]
          }
          return [.answer(.failure(Failure(.wrongDay, subject: "1")))]
        default: return []
        }
      }
    }
    defer { branch.end() }
    #expect(try Self.wait(at: branch) == [.cancelled])
    #expect(state.withLock { !$0.isHarmed })
  }

  @Test("a working station is waited for, a stalled one is not, and no status is read")
  func standstill() throws {
    // The ticket is read at the start and whenever the patience ends; it serves three times.
    let served = Mutex(Int64(0))
    let branch = try FakeBranch { command, _ in
      switch command {
      case .ticket:
        var ticket = Self.juice(day: 1, .waiting)
        ticket.servedOfService = served.withLock { served in
          served = min(served + 1, 4)
          return served
        }
        return [.answer(.ticket(ticket))]
      case .cancel: return [.answer(.ticket(Self.juice(day: 1, .done)))]
      default: return []
      }
    }
    defer { branch.end() }
    #expect(try Self.wait(at: branch) == [.withdrawn])
    #expect(served.withLock { $0 } == 4)
    let questions = branch.heard.filter { if case .ticket = $0 { true } else { false } }.count
    // Four in which the number had grown, one in which it had not, and one before the ticket was cancelled.
    #expect(questions == 6 && !branch.heard.contains(.status))
  }

  /// The end of a single juice, with hardly any patience.
  private static func wait(at branch: FakeBranch) throws -> [JuiceOrderTracker.OrderOutcome] {
    guard case .run(let invocation) = try BankctlTable.table.parse(["juice", "order", "banana"]) else {
      return []
    }
    let session = Session(
      invocation: invocation, messages: MessageCatalog(language: .english), home: branch.home,
      environment: .actual,
      asJSON: false, output: Output(isTerminal: false, palette: .none) { _ in .written })
    let wait = try InterruptibleWait()
    defer { wait.end() }
    let line = JuiceOrderTracker(
      EnqueuedReport(day: 1, first: 1, last: 1, count: 1), at: try CoordinatorClient.open(session), wait,
      stallTimeout: .milliseconds(1), session)
    var fates: [JuiceOrderTracker.OrderOutcome] = []
    try line.run { _, outcome in fates.append(outcome) }
    return fates
  }
}
