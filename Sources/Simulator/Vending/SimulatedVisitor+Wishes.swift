// Owns what comes to the mind of somebody at the vending machine. It must not know what is possible: some wishes are not.
// Invariant: the checker hears of every change before the machine does. There is nothing that can fail.

import BankModel
import Wire

extension SimulatedVisitor {
  func think() -> Wish {
    if isManager { return change(managersThought()) }
    // Without money there is nothing to be had.
    switch changes == 0 ? 0 : chance.draw(0...19) {
    case 0..<6: return change(.insert([100, 500, 1_000, 5_000, 10_000, 20_000][Int(chance.draw(0...5))]))
    case 6..<15: return change(.buy(someProduct()))
    case 15: return change(.giveChange)
    case 16:
      return Wish(command: .history(PurchasePage(after: chance.draw(0...6), limit: chance.draw(1...4))))
    case 17: return change(chance.draw(0...1) == 0 ? .insert(1_000_001) : .insert(0))
    case 18: return change(chance.draw(0...1) == 0 ? .buy(ItemID("tea")) : .discardExpired)
    default: return Wish(command: .balance)
    }
  }

  func oneMore() -> Wish { change(.buy(someProduct())) }

  private func someProduct() -> ItemID {
    let products = world.plan.vending.table.products
    return products[Int(chance.draw(0...Int64(products.count) - 1))].id
  }

  private func managersThought() -> VendingCommand {
    // An empty machine is filled first.
    switch changes == 0 ? 0 : chance.draw(0...15) {
    case 0..<10: return .add(drinks())
    case 10..<13: return .remove(ItemAmount(someProduct(), chance.draw(1...3)))
    case 13: return .insert(1_000)
    default: return .discardExpired
    }
  }

  private func drinks() -> AddedDrinks {
    var drinks = AddedDrinks(product: someProduct(), quantity: chance.draw(1...5))
    guard chance.draw(0...2) > 0 else { return drinks }
    drinks.made = world.today - chance.draw(0...2)
    // Some have expired when they come, some do so soon, and now and then the dates make no sense.
    drinks.expires = world.today + chance.draw(chance.draw(0...9) == 0 ? -4...(-3) : -1...2)
    return drinks
  }

  private func change(_ command: VendingCommand) -> Wish {
    changes += 1
    let name = OrderID((isManager ? "manager-" : "shopper-\(number)-") + "\(changes)")
    world.checker.vending.expect(command, as: name)
    return Wish(name: name, command: command)
  }
}
