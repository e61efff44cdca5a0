// Owns the last look at a history's vending machine: what everybody remembers of it, added up, is what the disks say.
// It must not ask a core. Invariant: money put in = balance + price of purchases + given back, and drinks brought in =
// present + sold + removed + discarded, both by the memories of those who were told.
import BankModel
import QueueCore

extension VendingWatch {
  /// The bank has ended: every intent has its end, and nobody remembers what is not so.
  func checkEnd() throws(StoreError) {
    guard world.hasVending else { return }
    world.vending.disk.crash()
    restarted(with: try world.vending.disk.load(newMachine: world.machineName))
    if let left = purchases.first(where: \.isUnfinished) {
      violate(.notDrained, "purchase \(left.number) is \(left.state.words) after the bank has ended")
    }
    var told = MoneyAccount()
    var brought: [ItemID: Quantity] = [:]
    for visitor in world.vending.visitors {
      // In the order of their names, because a history is the same every time.
      for (name, memory) in visitor.memory.sorted(by: { $0.key.text < $1.key.text }) {
        add(name, memory, to: &told)
        try add(name, memory, to: &brought)
      }
    }
    told.balance = told.inserted - told.spent - told.returned
    if told != account { violate(.money, "people remember \(told), and the machine has \(account)") }
    for product in world.plan.vending.table.products {
      let sold = rows.count { $0.kind == .bought && $0.product == product.id }
      let there = checker.stock.present.total(of: product.id)
      let left = brought[product.id, default: 0] - Quantity(sold)
      if there != left { violate(.drinks, "\(there) \(product.id) are there, and \(left) should be") }
    }
  }

  func leftovers() -> [String] {
    purchases.filter(\.isUnfinished).map { "purchase \($0.number) is \($0.state.words)" }
      + world.vending.visitors.filter { !$0.isContent }.map { "visitor \($0.number) waits for the machine" }
  }

  private func add(_ name: OrderID, _ memory: SimulatedVisitor.Memory, to told: inout MoneyAccount) {
    let row = rowOfRequest[name].map { rows[$0] }
    switch memory.result {
    case .done(let change)?:
      told.apply(change)
      if change != row { violate(.money, "\(name) remembers change \(change.sequence), which there is not") }
    case .failure(let failure)? where failure.code == .tooLittleMoney && memory.asked > 1:
      // Such a refusal is not kept: what was asked for twice may have found the money at the second time.
      if let row { told.apply(row) }
    case nil, .failure?:
      if row != nil {
        violate(.money, "\(name) was done, and nobody was told: \(String(describing: memory))")
      }
    default: break
    }
  }

  private func add(
    _ name: OrderID, _ memory: SimulatedVisitor.Memory, to brought: inout [ItemID: Quantity]
  ) throws(StoreError) {
    let order = OrderID("m-" + name.text)
    switch memory.result {
    case .stocked(let changes)?:
      for change in changes { brought[change.item, default: 0] += change.difference }
    case .failure(let failure)? where failure.code == .otherOrder:
      // It was done on another day, under the same name.
      for change in try world.stockDisk.order(order)?.changes ?? [] {
        brought[change.item, default: 0] += change.difference
      }
    default:
      if doneForTheManager.contains(order) { violate(.drinks, "\(name) was done, and nobody was told") }
    }
  }
}
