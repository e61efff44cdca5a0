// Owns what the vending machine's side of one history is like, drawn from the seed before the history begins. It must not
// know how anything is done. Invariant: the same seed gives the same plan in every build. The machine sells few products,
// so that customers meet over the last drink and the last coin.

import BankModel

struct VendingPlan {
  /// Whether there is a machine: only where there is a stock.
  let isThere: Bool
  let table: ProductTable
  let shoppers: Int
  /// Wishes of each of them.
  let wishes: Int64
  /// What the manager does in all.
  let orders: Int64
  /// Whether the stock's disk is full when the first machine begins.
  let meetsAFullStock: Bool
  /// How long the first machine comes later than the bank.
  let arrival: TimeSpan
  /// How long the stock may take to hand a drink out.
  let patience: TimeSpan
  /// How long the stock may take to do what the manager wants.
  let managersPatience: TimeSpan
  /// How long the machine waits until the stock has put something back, before it asks anew.
  let releasePatience: TimeSpan

  init(seed: UInt64, besides stock: StockPlan, isCalm: Bool) {
    var chance = SeededGenerator(seed: seed ^ 0x0D_A1_4C00_0000_0007)
    isThere = stock.isThere && chance.draw(0...1) == 0
    let products = ProductTable.standard.products
    let first = Int(chance.draw(0...Int64(products.count) - 1))
    let count = Int(chance.draw(1...3))
    table = ProductTable((0..<count).map { products[(first + $0 * 3) % products.count] })
    shoppers = Int(chance.draw(1...3))
    wishes = chance.draw(4...16)
    orders = chance.draw(3...10)
    arrival = chance.draw(0...2) == 0 ? .milliseconds(chance.draw(20...300)) : .zero
    meetsAFullStock = !isCalm && arrival > .zero && chance.draw(0...1) == 0
    // The real one waits for seconds; here its patience ends over every pause of the stock.
    patience = .milliseconds([3, 8, 40, 300, 8_000][Int(chance.draw(0...4))])
    managersPatience = max(patience, .milliseconds(50))
    releasePatience = .milliseconds([3, 50, 3_600_000][Int(chance.draw(0...2))])
  }
}
