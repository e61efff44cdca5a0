// Manager's operations: add drinks, remove them, discard expired ones. This class has no access to the customers'
// money.
// Invariant: a change is requested from the stock under a name derived from the name of the request, so a repeated
// request adds nothing twice.

import BankModel
import Posix
import ServiceProcess
import StockClient
import Time
import Wire

/// Performer of the manager's commands, which change the drinks in the stock.
final class MachineAdministration {
  private let shelf: DrinkShelf
  private let stock: StockClient
  private let clock: IterationClock
  private let timeout: TimeSpan

  init(_ shelf: DrinkShelf, _ stock: StockClient, _ clock: IterationClock, _ timeout: TimeSpan) {
    self.timeout = timeout
    self.shelf = shelf
    self.stock = stock
    self.clock = clock
  }

  /// Performs a change for the manager.
  func ask(_ command: VendingCommand, as name: OrderID, _ answer: @escaping (VendingResult) -> Void) {
    switch command.stockCommand(selling: shelf.table, on: clock.today) {
    case .success(let wanted): change(wanted, as: name, answer)
    case .failure(let refusal): answer(.failure(refusal))
    }
  }

  /// Requests a change from the stock once the stock has all products.
  private func change(
    _ command: StockCommand, as name: OrderID, _ answer: @escaping (VendingResult) -> Void
  ) {
    let deadline = SystemClock.monotonic() + timeout
    shelf.whenKnown(until: deadline) { [weak self] isKnown in
      guard let self else { return }
      guard isKnown else {
        let messageDetail = shelf.refusalReason ?? MessageDetail(.stockSilent)
        return answer(.failure(VendingFailure(.stockUnavailable, messageDetail: messageDetail)))
      }
      var order = OrderID(ofManagersRequest: name)
      if Mutant.restocksTwice.isActive {
        order = OrderID("\(order)-\(SystemClock.monotonic().nanoseconds)")
      }
      ask(command, as: order, until: deadline, answer)
    }
  }

  /// Requests a change from the stock. Answers after the view contains the change, so that the manager sees it.
  private func ask(
    _ command: StockCommand, as order: OrderID, until deadline: MonotonicTime,
    _ answer: @escaping (VendingResult) -> Void
  ) {
    stock.ask(command, as: order, until: deadline) { [weak self] result in
      switch result {
      case .success(let result):
        guard case .done(let changes) = result else { return answer(VendingResult(managersAnswer: result)) }
        guard let self else { return }
        shelf.whenReached(changes.last?.sequence ?? 0) { answer(.stocked(changes)) }
      case .failure where Mutant.treatsTimeoutAsDone.isActive: answer(.stocked([]))
      case .failure(let error):
        answer(.failure(VendingFailure(.stockUnavailable, messageDetail: error.messageDetail)))
      }
    }
  }
}
