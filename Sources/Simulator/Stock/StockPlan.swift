// Owns what the stock's side of one history is like, drawn from the seed before the history begins. It must not know how
// anything is done. Invariant: the same seed gives the same plan in every build. There is always too little of
// something, so that customers meet over the last fruit.

import BankModel

struct StockPlan {
  /// Whether there is a stock at all: the bank alone is simulated too.
  let isThere: Bool
  /// Windows of the juice station.
  let stations: Int32
  let assortment: Assortment
  /// Those who bring and take fruit by hand.
  let keepers: Int
  /// Changes of each of them.
  let changes: Int64
  let viewers: Int
  /// Orders are gathered for so long before they are committed.
  let gather: TimeSpan
  /// How long the coordinator waits until the stock has given something back.
  let releasePatience: TimeSpan

  init(seed: UInt64) {
    var chance = SeededGenerator(seed: seed ^ 0x57_0C4B_00C5_0000)
    isThere = chance.draw(0...4) < 3
    stations = isThere ? Int32(chance.draw(1...3)) : 0
    let hunger = chance.draw(0...2)
    var fruits = Assortment.standard.fruits
    for place in fruits.indices {
      fruits[place].initial = [chance.draw(0...6), chance.draw(0...25), chance.draw(20...300)][Int(hunger)]
    }
    assortment = Assortment(fruits: fruits, juices: Assortment.standard.juices)
    keepers = Int(chance.draw(0...2))
    changes = chance.draw(2...12)
    viewers = Int(chance.draw(0...2))
    gather = TimeSpan(nanoseconds: [0, 0, 50_000, 1_000_000][Int(chance.draw(0...3))])
    // The real one is patient; here its patience ends over every pause of the stock.
    releasePatience = .milliseconds([3, 5, 15, 60, 2_000][Int(chance.draw(0...4))])
  }
}
