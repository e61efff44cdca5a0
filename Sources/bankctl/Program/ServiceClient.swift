// Owns how a command waits for the answer of a service of the open bank: as long as its patience lasts, and no longer than
// the bank is there. It must not know what a service is asked.
// Invariant: where a bank has closed over a change it is not said that nothing was changed.
// Failure: CommandError with exit code 3 where the bank has closed; what goes wrong otherwise is the client's own error.
import BankModel
import Posix
import StockClient
import VendingClient
import Wire

/// A client of the stock or of the vending machine.
protocol ServiceClient: AnyObject {
  associatedtype Command
  associatedtype Answer
  associatedtype Trouble: Error

  /// Who answers, in the words of a status.
  static var role: WorkerRole { get }
  /// The name that scripts see in JSON where nobody answers.
  static var absence: String { get }

  var isConnected: Bool { get }

  func ask(
    _ command: Command, as order: OrderID?, until deadline: MonotonicInstant,
    _ listener: @escaping (Result<Answer, Trouble>) -> Void)
  func turn(until deadline: MonotonicInstant?) throws(Trouble)
  func close()
}

extension StockClient: ServiceClient {
  static var role: WorkerRole { .stock }
  static var absence: String { "stock_unavailable" }
}

extension VendingClient: ServiceClient {
  static var role: WorkerRole { .vending }
  static var absence: String { "vending_unavailable" }
}

extension ServiceClient {
  /// Asks, and waits for the answer; nobody starts the service again for a bank that has closed.
  ///
  /// - Parameters:
  ///   - deadline: How long it is waited for a service that is away. One that is there is heard even when time is up: the
  ///     question itself is quick.
  ///   - changes: Whether something may be another afterwards.
  func answer(
    to command: Command, by deadline: MonotonicInstant, changes: Bool, _ session: Session
  ) throws(CommandError) -> Result<Answer, Trouble> {
    let limit = max(deadline, SystemClock.monotonic() + .milliseconds(100))
    var outcome: Result<Answer, Trouble>?
    var wasConnected = isConnected
    ask(command, as: nil, until: limit) { outcome = $0 }
    while true {
      if let outcome { return outcome }
      do throws(Trouble) {
        try turn(until: min(limit, SystemClock.monotonic() + serviceLook))
      } catch {
        return .failure(error)
      }
      wasConnected = wasConnected || isConnected
      guard outcome == nil, !isConnected else { continue }
      if !(changes && wasConnected), let reason = session.whyNobodyComes(to: Self.role) {
        close()
        throw .complaint(Complaint(code: Self.absence, exit: .later, message: reason))
      }
      guard session.isBankClosed else { continue }
      close()
      guard changes, wasConnected else {
        throw .control(.notOpen(socket: session.home.socket, stale: false))
      }
      let message = session.words.closedMeanwhile(home: session.home.path)
      throw .complaint(Complaint(code: "not_open", exit: .notOpen, message: message))
    }
  }
}

/// How often it is looked whether the bank of a service that is not there is still open.
private let serviceLook = Duration.milliseconds(500)

extension Session {
  /// Why a service will not be there however long it is waited for, and what to type; nil where it may come.
  fileprivate func whyNobodyComes(to role: WorkerRole) -> String? {
    guard let connection = try? home.connect(), let report = try? Desk(connection).status(.status),
      let worker = report.workers.first(where: { $0.role == role })
    else { return nil }
    let isLasting = [.damaged, .removed, .newerSchema].contains(worker.failure?.code)
    guard isLasting || worker.isFailed == true else { return nil }
    return words.outOfWork(worker)
  }
}
