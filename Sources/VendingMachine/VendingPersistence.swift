// Stored data of the vending machine: performs the effects that concern the store, caches recent purchases,
// and answers queries. Effects that concern the stock belong to the service.

import BankModel
import QueueCore
import ServiceProcess
import VendingCore
import Wire

/// Store of the vending machine for its driver, with the numbers of sales and the latest purchases in memory for
/// subscribers.
package final class VendingPersistence: ServicePersistence {
  /// Maximum number of purchases that are kept in memory for subscribers.
  let recentLimit = 200
  /// Number of committed purchases of each product.
  private(set) var sales: [ItemID: Int64] = [:]
  /// The latest committed purchases, oldest first.
  private(set) var recent: [MoneyChange] = []
  package let store: any EntryStore<VendingEntry, StoreError>
  fileprivate let vending: any VendingStore<StoreError>

  /// Loads the numbers of sales and the latest purchases from the store.
  package init(_ store: some VendingStore<StoreError>) throws(StoreError) {
    vending = store
    self.store = store
    for sale in try store.sales() { sales[sale.product] = sale.count }
    recent = try store.latestPurchases(limit: recentLimit)
  }

  /// Translates an effect of the state machine for the driver: a record read from the store, an entry to stage, or an
  /// answer to send. The service performs the effects on the stock.
  package func step(
    for effect: VendingEffect
  ) throws(StoreError) -> EffectStep<VendingEvent, VendingEntry, VendingAnswer> {
    switch effect {
    case .lookUp(let id): .event(.found(id, try vending.request(id)))
    case .stage(let entry): .stage(entry)
    case .reply(let request, let answer): .reply(request, answer)
    case .take, .release: .serviceEffect
    }
  }

  /// Counts the purchases of entries that are on disk now, and adds them to `recent`.
  package func committed(_ entries: [VendingEntry]) {
    for case let change? in entries.lazy.map(\.change) where change.kind == .bought {
      if let product = change.product { sales[product, default: 0] += 1 }
      recent.append(change)
    }
    recent = recent.suffix(recentLimit)
  }
}

extension MachineDriver where Machine: VendingServiceMachine, Persistence == VendingPersistence {
  /// Committed purchases after a sequence number, oldest first; empty if the disk has failed. Nothing may be staged.
  func purchases(after sequence: Int64, limit: Int) -> [MoneyChange] {
    read { persistence throws(StoreError) in try persistence.vending.purchases(after: sequence, limit: limit)
    } ?? []
  }

  /// Checks the invariants. Nothing may be staged. Nil if the disk has failed.
  func audit() -> VendingResult? {
    read(orRefuse: { .failure(VendingFailure(.diskFull, messageDetail: $0)) }) {
      persistence throws(StoreError) in
      let found = try persistence.vending.audit()
      return .audit(
        VendingAuditReport(
          changes: found.changes, account: found.account, purchases: found.purchases,
          unfinished: found.unfinished, difference: found.difference, messageDetails: found.messageDetails,
          machine: machine.machine))
    }
  }
}
