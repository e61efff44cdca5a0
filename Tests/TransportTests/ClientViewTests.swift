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
    var view = StockView(StockPlace(ledger: 5, sequence: 2))
    #expect(view.question == .follow(StockPlace(ledger: 5, sequence: 2)))
    guard case .news(.changes(let news)) = view.hear(.changes([change(2), change(3), change(4)])) else {
      Issue.record("nothing was reported")
      return
    }
    #expect(news.map(\.sequence) == [3, 4])
    guard case .nothing = view.hear(.changes([change(4)])) else {
      Issue.record("a change was reported twice")
      return
    }
    #expect(view.question == .follow(StockPlace(ledger: 5, sequence: 4)))
  }

  @Test("requests a snapshot if a change is missing, and reports nothing before it")
  func gap() {
    var view = StockView(StockPlace(ledger: 5, sequence: 2))
    guard case .askAgain = view.hear(.changes([change(4)])) else {
      Issue.record("a gap was not noticed")
      return
    }
    #expect(view.question == .follow(nil))
    guard case .nothing = view.hear(.changes([change(5)])) else {
      Issue.record("a change was reported without a snapshot")
      return
    }
    let picture = StockPicture(ledger: 6, sequence: 9, items: [])
    guard case .news(.picture(picture)) = view.hear(.picture(picture)) else {
      Issue.record("the snapshot was not reported")
      return
    }
    #expect(view.question == .follow(StockPlace(ledger: 6, sequence: 9)))
  }

  @Test("continues from where it was when it was too slow, and reports a refusal")
  func slow() {
    var view = StockView(StockPlace(ledger: 5, sequence: 2))
    guard case .askAgain = view.hear(.failure(StockFailure(.tooSlow))) else {
      Issue.record("it does not continue")
      return
    }
    #expect(view.question == .follow(StockPlace(ledger: 5, sequence: 2)))
    guard case .news(.refused(let failure)) = view.hear(.failure(StockFailure(.crowded))) else {
      Issue.record("the refusal was not reported")
      return
    }
    #expect(failure.code == .crowded)
  }
}

@Suite("A view of the vending machine") struct VendingViewTests {
  private func news(_ sequence: Int64, _ purchases: [Int64] = []) -> VendingNews {
    VendingNews(
      sequence: sequence, balance: 0, free: 0, today: 1, products: [],
      purchases: purchases.map {
        MoneyChange(
          sequence: $0, kind: .bought, amount: 700, balance: 0, product: ItemID("cola"),
          request: OrderID("a"),
          at: WallTime(milliseconds: 0))
      })
  }

  private let picture = VendingPicture(
    sequence: 4, balance: 0, free: 0, today: 1, products: [], sales: [], recent: [])

  @Test("reports nothing before a snapshot, and no purchase twice")
  func once() {
    var view = VendingView()
    guard case .nothing = view.hear(.news(news(3))) else {
      Issue.record("there were news without a snapshot")
      return
    }
    guard case .news(.picture(picture)) = view.hear(.picture(picture)) else {
      Issue.record("the snapshot was not reported")
      return
    }
    guard case .nothing = view.hear(.news(news(3, [3]))) else {
      Issue.record("the contents of the snapshot were reported again")
      return
    }
    // Drinks come without money.
    guard case .news(.news(let fresh)) = view.hear(.news(news(4, [4]))),
      case .news(.news(let next)) = view.hear(.news(news(6, [4, 6])))
    else {
      Issue.record("the news were not reported")
      return
    }
    #expect(fresh.purchases.isEmpty && next.purchases.map(\.sequence) == [6])
  }

  @Test("starts with a new snapshot when it was too slow, and reports a refusal")
  func slow() {
    var view = VendingView()
    guard case .askAgain = view.hear(.failure(VendingFailure(.tooSlow))) else {
      Issue.record("it does not continue")
      return
    }
    #expect(view.question == .follow)
    guard case .news(.refused(let failure)) = view.hear(.failure(VendingFailure(.crowded))) else {
      Issue.record("the refusal was not reported")
      return
    }
    #expect(failure.code == .crowded)
  }
}
