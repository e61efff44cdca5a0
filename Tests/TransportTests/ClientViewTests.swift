// The view of a client that follows the stock or the vending machine: what it reports, and what it requests
// again. Pure, without a socket.

import BankModel
import StockClient
import Testing
import Time
import Transport
import VendingClient
import Wire

@Suite("A view of the stock") struct StockViewTests {
  private func change(_ sequence: Int64) -> StockChange {
    StockChange(
      sequence: sequence, item: ItemID("kiwi"), kind: .added, dates: nil, difference: 1, lot: 1, present: 1,
      order: nil, at: WallTime(milliseconds: 0))
  }

  @Test("reports every change once and in order, even if it receives some twice")
  func once() {
    var view = StockCursor(StockPosition(ledger: 5, sequence: 2))
    #expect(view.request == .follow(StockPosition(ledger: 5, sequence: 2)))
    guard case .news(.changes(let news)) = view.handle(.changes([change(2), change(3), change(4)])) else {
      Issue.record("nothing was reported")
      return
    }
    #expect(news.map(\.sequence) == [3, 4])
    guard case .nothing = view.handle(.changes([change(4)])) else {
      Issue.record("a change was reported twice")
      return
    }
    #expect(view.request == .follow(StockPosition(ledger: 5, sequence: 4)))
  }

  @Test("requests a snapshot if a change is missing, and reports nothing before it")
  func gap() {
    var view = StockCursor(StockPosition(ledger: 5, sequence: 2))
    guard case .resubscribe = view.handle(.changes([change(4)])) else {
      Issue.record("a gap was not noticed")
      return
    }
    #expect(view.request == .follow(nil))
    guard case .nothing = view.handle(.changes([change(5)])) else {
      Issue.record("a change was reported without a snapshot")
      return
    }
    let picture = StockSnapshot(ledger: 6, sequence: 9, items: [])
    guard case .news(.snapshot(picture)) = view.handle(.snapshot(picture)) else {
      Issue.record("the snapshot was not reported")
      return
    }
    #expect(view.request == .follow(StockPosition(ledger: 6, sequence: 9)))
  }

  @Test("continues from where it was when it was too slow, and reports a refusal")
  func slow() {
    var view = StockCursor(StockPosition(ledger: 5, sequence: 2))
    guard case .resubscribe = view.handle(.failure(StockFailure(.slowConsumer))) else {
      Issue.record("it does not continue")
      return
    }
    #expect(view.request == .follow(StockPosition(ledger: 5, sequence: 2)))
    guard case .news(.refused(let failure)) = view.handle(.failure(StockFailure(.crowded))) else {
      Issue.record("the refusal was not reported")
      return
    }
    #expect(failure.code == .crowded)
  }
}

@Suite("A view of the vending machine") struct VendingViewTests {
  private func news(_ sequence: Int64, _ purchases: [Int64] = []) -> VendingChanges {
    VendingChanges(
      sequence: sequence, balance: 0, availableBalance: 0, today: 1, products: [],
      purchases: purchases.map {
        MoneyChange(
          sequence: $0, kind: .bought, amount: 700, balance: 0, product: ItemID("cola"),
          request: OrderID("a"),
          at: WallTime(milliseconds: 0))
      })
  }

  private let picture = VendingSnapshot(
    sequence: 4, balance: 0, availableBalance: 0, today: 1, products: [], sales: [], recent: [])

  @Test("reports nothing before a snapshot, and no purchase twice")
  func once() {
    var view = VendingCursor()
    guard case .nothing = view.handle(.news(news(3))) else {
      Issue.record("there were news without a snapshot")
      return
    }
    guard case .news(.snapshot(picture)) = view.handle(.snapshot(picture)) else {
      Issue.record("the snapshot was not reported")
      return
    }
    guard case .nothing = view.handle(.news(news(3, [3]))) else {
      Issue.record("the contents of the snapshot were reported again")
      return
    }
    // Drinks come without money.
    guard case .news(.news(let fresh)) = view.handle(.news(news(4, [4]))),
      case .news(.news(let next)) = view.handle(.news(news(6, [4, 6])))
    else {
      Issue.record("the news were not reported")
      return
    }
    #expect(fresh.purchases.isEmpty && next.purchases.map(\.sequence) == [6])
  }

  @Test("starts with a new snapshot when it was too slow, and reports a refusal")
  func slow() {
    var view = VendingCursor()
    guard case .resubscribe = view.handle(.failure(VendingFailure(.slowConsumer))) else {
      Issue.record("it does not continue")
      return
    }
    #expect(view.request == .follow)
    guard case .news(.refused(let failure)) = view.handle(.failure(VendingFailure(.crowded))) else {
      Issue.record("the refusal was not reported")
      return
    }
    #expect(failure.code == .crowded)
  }
}
