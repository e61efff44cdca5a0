// Owns the end of a chaos run: the bank is drained as an operator would, dead letters are brought back, and
// its books are read page by page. Invariant: nobody is cancelled; whoever has a ticket is served before the
// bank closes. Failure: CommandError; a bank that does not become idle in its time is one.
import BankModel
import Console
import Posix
import Wire

struct ChaosClosing {
  let session: Session
  private(set) var requeued: Int64 = 0

  private static let patience = Duration.seconds(120)
  private static let rounds = 20

  init(_ session: Session) { self.session = session }

  /// Waits until everybody is served, looks around, and closes the bank.
  mutating func drain(_ lookAround: () -> Void) throws(CommandError) {
    for _ in 0..<Self.rounds {
      do throws(CommandError) {
        let coordinator = try CoordinatorClient.reopen(session)
        while try !bringBack(at: coordinator) {}
        lookAround()
        return try close(coordinator)
      } catch {
        guard error.isLoss else { throw error }
      }
    }
    throw .control(.lost)
  }

  /// Whether nobody waits and nobody is a dead letter.
  private mutating func bringBack(at coordinator: CoordinatorClient) throws(CommandError) -> Bool {
    let report = try coordinator.status(.awaitIdle, within: Self.patience)
    guard report.queue.dead > 0 else { return true }
    var count: Int64 = 0
    try coordinator.ask(.requeueDead) { answer throws(CommandError) in
      if case .requeued(let number) = answer { count = number }
    }
    requeued += count
    return false
  }

  private func close(_ coordinator: CoordinatorClient) throws(CommandError) {
    let order = StopOrder(now: false, timeoutMilliseconds: nil)
    try coordinator.ask(.stop(order), within: Self.patience) { _ throws(CommandError) in }
    _ = coordinator.connection.awaitEnd(until: SystemClock.monotonic() + .seconds(30))
  }

  /// All receipts behind a place in the order of commits, of all days.
  func receipts(after sequence: Int64) throws(CommandError) -> [ReceiptReport] {
    var receipts: [ReceiptReport] = []
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      receipts.removeAll()
      try coordinator.ask(.receipts(ReceiptQuery(days: .all, follow: false, after: sequence))) {
        answer throws(CommandError) in
        receipts += try answer.receipts
      }
    }
    return receipts.filter { $0.sequence > sequence }
  }

  func audit() throws(CommandError) -> [Remark] {
    var problems: [Remark] = []
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      try coordinator.ask(.audit, within: nil) { answer throws(CommandError) in
        if case .audit(let report) = answer { problems = report.findings }
      }
    }
    return problems
  }
}
