// Stored data of the stock service: performs the effects that concern the store, keeps committed changes
// until they are published, and answers queries.

import BankModel
import Posix
import QueueCore
import ServiceProcess
import StockCore
import Time
import Wire

/// Store of the stock for its driver, with the committed changes that were not yet published.
package final class StockPersistence: ServicePersistence {
  package let store: any EntryStore<StockEntry, StoreError>
  fileprivate let stock: any StockStore<StoreError>
  private var fresh: [StockChange] = []

  package init(_ store: some StockStore<StoreError>) { (self.store, stock) = (store, store) }

  /// Translates an effect of the state machine for the driver.
  package func step(
    for effect: StockEffect
  ) throws(StoreError) -> EffectStep<StockEvent, StockEntry, StockAnswer> {
    switch effect {
    case .lookUp(let id): return .event(.found(id, try stock.order(id)))
    case .stage(let entry):
      if Mutant.notifiesBeforeCommit.isActive { fresh += entry.changes }
      return .stage(entry)
    case .reply(let request, let answer): return .reply(request, answer)
    }
  }

  /// Stores the changes of entries that are on disk now, for the next publication.
  package func committed(_ entries: [StockEntry]) {
    if Mutant.notifiesBeforeCommit.isActive { return }
    for entry in entries { fresh += entry.changes }
  }

  /// Returns the changes committed since the last call.
  func takeCommitted() -> [StockChange] {
    guard !fresh.isEmpty else { return [] }
    defer { fresh = [] }
    return fresh
  }

  /// Answers a query from the store: a list of orders, or an audit.
  func answer(_ query: StockCommand) throws(StoreError) -> StockResult {
    switch query {
    case .orders(let after, let limit):
      let most = Int(min(max(1, limit), StockLimits.ordersPerPage))
      return .orders(try stock.orders(after: after, limit: most))
    case .known(let names):
      var known: [OrderRecord] = []
      for id in names.prefix(Int(StockLimits.ordersPerPage)) {
        if let order = try stock.order(id) { known.append(order.kept(as: id)) }
      }
      return .orders(known)
    default:
      let found = try stock.audit()
      return .audit(
        StockAuditReport(
          items: found.items, orders: found.orders, changes: found.changes, difference: found.difference,
          messageDetails: found.messageDetails))
    }
  }
}

extension MachineDriver where Machine: StockServiceMachine, Persistence == StockPersistence {
  /// Adds the items that the stock does not have yet. If the disk has no space for them, the process ends, because a
  /// stock without its items is useless.
  func seedItems(_ amounts: [ItemAmount], at now: Moment) {
    process(.seedItems(amounts), at: now)
    commit(at: now)
    _ = persistence.takeCommitted()
    let known = Set(machine.picture.items.map(\.item))
    guard !amounts.allSatisfy({ known.contains($0.item) }) else { return }
    end(because: .diskFull(detail: MessageDetail(.noSpaceForItems)))
  }

  /// Answers a query of stored data. Nothing may be staged. Nil if the disk has failed.
  func answer(_ query: StockCommand) -> StockResult? {
    read(orRefuse: { .failure(StockFailure(.diskFull, messageDetail: $0)) }) {
      persistence throws(StoreError) in
      try persistence.answer(query)
    }
  }

  /// Committed rows of the ledger after a sequence number; empty if the disk has failed. Nothing may be staged.
  func changes(after sequence: Int64, limit: Int) -> [StockChange] {
    read { persistence throws(StoreError) in try persistence.stock.changes(after: sequence, limit: limit) }
      ?? []
  }
}
