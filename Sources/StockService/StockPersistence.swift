// Owns what the stock has on its disk: how an effect of its rules meets the store, what was committed and not handed on yet, and
// the answers that are read from there.

import BankModel
import Posix
import QueueCore
import ServiceProcess
import StockCore
import Time
import Wire

package final class StockPersistence: ServicePersistence {
  package let store: any EntryStore<StockEntry, StoreError>
  fileprivate let stock: any StockStore<StoreError>
  private var fresh: [StockChange] = []

  package init(_ store: some StockStore<StoreError>) { (self.store, stock) = (store, store) }

  package func step(
    for effect: StockEffect
  ) throws(StoreError) -> EffectStep<StockEvent, StockEntry, StockAnswer> {
    switch effect {
    case .lookUp(let id): return .follow(.found(id, try stock.order(id)))
    case .stage(let entry):
      if Kernel.makes("showsTooEarly") { fresh += entry.changes }
      return .stage(entry)
    case .reply(let request, let answer): return .reply(request, answer)
    }
  }

  package func committed(_ entries: [StockEntry]) {
    if Kernel.makes("showsTooEarly") { return }
    for entry in entries { fresh += entry.changes }
  }

  /// The changes that were committed since the last time this was asked.
  func takeCommitted() -> [StockChange] {
    guard !fresh.isEmpty else { return [] }
    defer { fresh = [] }
    return fresh
  }

  func answer(_ question: StockCommand) throws(StoreError) -> StockResult {
    switch question {
    case .orders(let after, let limit):
      let most = Int(min(max(1, limit), StockLimits.ordersPerPage))
      return .orders(try stock.orders(after: after, limit: most))
    case .known(let names):
      var known: [KeptOrder] = []
      for id in names.prefix(Int(StockLimits.ordersPerPage)) {
        if let order = try stock.order(id) { known.append(order.kept(as: id)) }
      }
      return .orders(known)
    default:
      let found = try stock.audit()
      return .audit(
        StockAuditReport(
          items: found.items, orders: found.orders, changes: found.changes, difference: found.difference,
          remarks: found.remarks))
    }
  }
}

extension MachineDriver where Machine: StockDecisions, Persistence == StockPersistence {
  /// Brings in the items that are not known yet. A stock without its shelves has nothing to say to anybody: where there
  /// is no room for them the process has to end and to be started again.
  func furnish(_ amounts: [ItemAmount], at now: Moment) {
    happen(.furnish(amounts), at: now)
    commit(at: now)
    _ = persistence.takeCommitted()
    let known = Set(machine.picture.items.map(\.item))
    guard !amounts.allSatisfy({ known.contains($0.item) }) else { return }
    end(because: .diskFull(detail: Remark(.noRoomForShelves)))
  }

  /// What a question about the disk comes to. Nothing may be staged. Nil where the disk has failed.
  func answer(_ question: StockCommand) -> StockResult? {
    read(orRefuse: { .failure(StockFailure(.diskFull, remark: $0)) }) { persistence throws(StoreError) in
      try persistence.answer(question)
    }
  }

  /// Rows of the ledger that are on disk. Nothing may be staged.
  func changes(after sequence: Int64, limit: Int) -> [StockChange] {
    read { persistence throws(StoreError) in try persistence.stock.changes(after: sequence, limit: limit) }
      ?? []
  }
}
