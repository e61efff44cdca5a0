// News for subscribers of the machine: the changes since the last publication, encoded once for all customers and once
// for the manager, who sees the lots.
// Invariant: a subscriber receives a snapshot, and then every later purchase, in order and once, and the current
// products. A subscriber that is too slow gets an error.

import BankModel
import VendingCore
import Wire

/// The subscriptions of buyers and of the manager to the state of the vending machine.
final class VendingSubscriptions<Machine: VendingServiceMachine> {
  /// Maximum number of purchases in one publication.
  private let page = 200

  /// What the last publication to the customers, or to the manager, contained: the next one starts after it.
  private struct LastSent {
    var sequence: Int64
    var version: UInt64
    var availableBalance: Won
    var today: DayNumber

    /// True if the machine or the stock has changed since.
    func isBehind(_ service: VendingService<Machine>) -> Bool {
      let machine = service.driver.machine
      return today != service.today || sequence < machine.durableSequence || version < service.shelf.version
        || availableBalance != machine.durableAvailableBalance
    }
  }

  /// Number of topics: one for customers, and one for the manager.
  private let sides = 2

  /// Subscriptions, with one topic for each side.
  let views = VendingService<Machine>.Views(
    topics: 2,
    tooSlow: .failure(VendingFailure(.slowConsumer, detail: "the changes came faster than they were read")))
  /// What the customers, and then the manager, were sent last; nil for a side without subscribers.
  private var lastSent = [LastSent?](repeating: nil, count: 2)

  /// Adds a subscriber and sends it a snapshot; false if its client already has the maximum number of subscriptions.
  /// Nothing may be staged.
  func admit(_ call: VendingService<Machine>.Call, showsLots: Bool, _ service: VendingService<Machine>)
    -> Bool
  {
    let side = showsLots ? 1 : 0
    // First send the other subscribers the changes that the snapshot for the new one contains.
    publish(on: side, service)
    guard let view = call.open(in: views, topic: side) else { return false }
    let products = service.shelf.reports(on: service.today, withLots: showsLots)
    let picture = service.picture(products, withLots: showsLots)
    call.answer(.snapshot(picture), more: true)
    lastSent[side] = LastSent(
      sequence: picture.sequence, version: service.shelf.version, availableBalance: picture.availableBalance,
      today: picture.today)
    views.begin(view)
    return true
  }

  /// Publishes all changes since the last publication to all subscribers. Nothing may be staged.
  func publish(_ service: VendingService<Machine>) { for side in 0..<sides { publish(on: side, service) } }

  /// Publishes all changes to the subscribers of one side (0: customers, 1: the manager), in as many publications as
  /// needed.
  private func publish(on side: Int, _ service: VendingService<Machine>) {
    guard views.hasSubscribers(side) else { return lastSent[side] = nil }
    while let before = lastSent[side], before.isBehind(service) {
      let news = news(behind: before, withLots: side == 1, service)
      lastSent[side] = LastSent(
        sequence: news.sequence, version: service.shelf.version, availableBalance: news.availableBalance,
        today: news.today)
      // A change of another item of the stock is not news for a subscriber of drinks.
      let isNothing =
        before.today == news.today && news.products.isEmpty && before.sequence == news.sequence
        && before.availableBalance == news.availableBalance
      if !isNothing { views.publish(.news(news), topic: side) }
    }
  }

  /// The next publication: changes of money and drinks since the last one, with at most ``page`` purchases.
  private func news(behind lastSent: LastSent, withLots: Bool, _ service: VendingService<Machine>)
    -> VendingChanges
  {
    let machine = service.driver.machine
    let purchases =
      lastSent.sequence < machine.durableSequence ? purchases(after: lastSent.sequence, service) : []
    let isWhole = purchases.count < page
    let products = service.shelf.reports(
      on: service.today, withLots: withLots, since: lastSent.today == service.today ? lastSent.version : nil)
    return VendingChanges(
      sequence: isWhole ? machine.durableSequence : purchases.last?.sequence ?? lastSent.sequence,
      balance: machine.durableAccount.balance, availableBalance: machine.durableAvailableBalance,
      today: service.today,
      products: products, purchases: purchases)
  }

  /// At most ``page`` purchases after a sequence number: from memory if all of them are cached, else from disk.
  private func purchases(after sequence: Int64, _ service: VendingService<Machine>) -> [MoneyChange] {
    let bought = service.driver.persistence
    if bought.recent.count < bought.recentLimit || (bought.recent.first?.sequence ?? 0) <= sequence + 1 {
      return Array(bought.recent.drop { $0.sequence <= sequence }.prefix(page))
    }
    return service.driver.purchases(after: sequence, limit: page)
  }
}
