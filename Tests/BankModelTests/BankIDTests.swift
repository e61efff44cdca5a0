// The names of orders: no two tickets share one, in any database, and old tickets keep theirs.
import Testing
import Time

@testable import BankModel

@Suite("The names of orders")
struct BankIDTests {
  private let bankID = BankID(number: 0x7FFF_0000_0000_00FF, day: 3, ticket: 18)
  private let moment = WallTime(milliseconds: 1_770_000_000_000)

  @Test(
    "tickets from before the database had a name keep theirs; later ones contain it and their time")
  func names() {
    #expect(bankID.order(day: 3, ticket: 17, issuedAt: moment).text == "3-17")
    #expect(bankID.order(day: 2, ticket: 99, issuedAt: moment).text == "2-99")
    let order = bankID.order(day: 3, ticket: 18, issuedAt: moment)
    #expect(order.text == "b7fff0000000000ff-3-18-ml4kasqo", "the time in base 36")
    #expect(order.isValid)
    #expect(BankID.none.order(day: 9, ticket: 1, issuedAt: moment).text == "9-1")
  }

  @Test("another database, and a ticket of the same number issued at another time, have other names")
  func distinct() {
    let others = BankID(number: 0x7FFF_0000_0000_00FE, day: 1, ticket: 1)
    let later = WallTime(milliseconds: moment.milliseconds + 1)
    let names = [
      bankID.order(day: 4, ticket: 1, issuedAt: moment), others.order(day: 4, ticket: 1, issuedAt: moment),
      bankID.order(day: 4, ticket: 1, issuedAt: later),
      BankID.none.order(day: 4, ticket: 1, issuedAt: moment),
    ]
    #expect(Set(names).count == names.count)
  }

  @Test("a name identifies the owner of its order")
  func origins() {
    #expect(bankID.origin(of: bankID.order(day: 4, ticket: 1, issuedAt: moment)) == .own(day: 4, ticket: 1))
    #expect(bankID.origin(of: OrderID("3-17")) == .own(day: 3, ticket: 17))
    #expect(bankID.origin(of: OrderID("3-18")) == .others)
    #expect(bankID.origin(of: OrderID("b7fff0000000000fe-4-1-zz")) == .others)
    for text in ["v00000000000000ff-000000001", "m-x1-2", "03-17", "x", "", "b12-1-1-1"] {
      #expect(bankID.origin(of: OrderID(text)) == .none, "\(text)")
    }
  }
}
