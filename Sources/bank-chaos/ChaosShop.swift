// The stock in a chaos run: a client that adds and removes fruit, and a subscriber for the whole run.
// Invariant: a delivery has one permanent order ID and is repeated until it is answered; no other object records the
// answers. The subscriber must receive every change once and in order, in spite of all kills.
// Errors: StockClientError if the stock does not answer at the start or at the end.
import BankModel
import ControlClient
import Posix
import StockClient
import Time
import Wire

final class ChaosShop {
  let assortment: Assortment
  let before: [ItemID: Quantity]
  private(set) var brought: [ItemID: Quantity] = [:]
  private(set) var deliveries: Int64 = 0
  private(set) var changesSeen: Int64 = 0
  private(set) var gaps: [Remark] = []
  /// Permanent refusals.
  private(set) var refusals: [Remark] = []
  private let client: StockClient
  private let name: String
  private var chance: SeededGenerator
  private var delivery: (order: OrderID, amount: ItemAmount)?
  private var isAsked = false
  private var count = 0
  private var nextAt = MonotonicTime(nanoseconds: 0)
  private var seen: Int64?
  private var shelves: [ItemID: Quantity] = [:]
  private static let patience = TimeSpan.seconds(30)
  private static let pieces: ClosedRange<Quantity> = -6...40
  private static let pauses: ClosedRange<Int64> = 2...25

  init(_ home: BankHome, on loop: EventLoop, seed: UInt64, name: String) throws(StockClientError) {
    client = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    self.name = name
    chance = SeededGenerator(seed: seed ^ 0x6672_7569_7473)
    let answers = (
      try client.call(.assortment, within: Self.patience), try client.call(.look, within: Self.patience)
    )
    guard case (.assortment(let assortment), .picture(let picture)) = answers else {
      throw .tryLater(detail: "\(answers)", isInDoubt: false)
    }
    self.assortment = assortment
    before = picture.quantities(of: assortment)
    client.follow { [unowned self] news in hear(news) }
  }

  var isSettled: Bool { delivery == nil }

  func turn(_ now: MonotonicTime, wantsMore: Bool) {
    client.endTurn()
    if delivery == nil, wantsMore, now >= nextAt { think(now) }
    guard let delivery, !isAsked else { return }
    isAsked = true
    client.ask(.change(delivery.amount, nil), as: delivery.order, until: now + Self.patience) {
      [unowned self] answer in
      hear(answer)
    }
    client.endTurn()
  }

  private func think(_ now: MonotonicTime) {
    nextAt = now + .milliseconds(chance.draw(Self.pauses))
    let fruit = assortment.fruits[Int(chance.draw(0...Int64(assortment.fruits.count) - 1))].id
    let pieces = chance.draw(Self.pieces)
    count += 1
    delivery = (OrderID("\(name)-fruit-\(count)"), ItemAmount(fruit, pieces == 0 ? 1 : pieces))
  }

  private func hear(_ answer: Result<StockResult, StockClientError>) {
    isAsked = false
    guard let amount = delivery?.amount else { return }
    switch answer {
    case .success(.done):
      brought[amount.item, default: 0] += amount.quantity
      // Sometimes the same delivery is sent again, which must have no effect.
      if chance.draw(1...8) == 1 {
        brought[amount.item, default: 0] -= amount.quantity
        return
      }
    case .success(.short): break
    case .success(.failure(let failure)) where failure.code == .diskFull: return
    case .success(let other): refusals.append(Remark(.wasAnsweredOtherwise, amount.item, "\(other)"))
    // No answer in time: the same request is repeated.
    case .failure: return
    }
    deliveries += 1
    delivery = nil
  }

  private func hear(_ news: StockNews) {
    switch news {
    case .picture(let picture):
      // There is one snapshot at the start. A different later one means that changes were missed.
      if let seen, seen != picture.sequence { gaps.append(Remark(.viewBegunAnew, seen, picture.sequence)) }
      seen = picture.sequence
      shelves = picture.quantities
    case .changes(let changes): for change in changes { look(at: change) }
    case .refused(let failure): gaps.append(Remark(.viewRefused, failure.code.name))
    }
  }

  private func look(at change: StockChange) {
    changesSeen += 1
    if change.sequence != (seen ?? 0) + 1 { gaps.append(Remark(.viewOutOfOrder, seen ?? 0, change.sequence)) }
    seen = change.sequence
    let there = shelves[change.item, default: 0] + change.difference
    shelves[change.item] = there
    if there != change.present {
      gaps.append(Remark(.viewDiffers, change.sequence, change.present, change.item, there))
    }
  }

  /// Returns the amounts at the end, which the subscriber must have reached.
  func finish() throws(StockClientError) -> [ItemID: Quantity] {
    guard case .picture(let picture) = try client.call(.look, within: Self.patience) else {
      throw .tryLater(detail: "no snapshot", isInDoubt: false)
    }
    let deadline = SystemClock.monotonic() + Self.patience
    while seen ?? 0 < picture.sequence, SystemClock.monotonic() < deadline {
      try client.turn(until: deadline)
    }
    if seen != picture.sequence {
      gaps.append(Remark(.viewEndsEarly, picture.sequence, seen ?? 0))
    } else if shelves != picture.quantities {
      gaps.append(Remark(.viewSum))
    }
    return picture.quantities(of: assortment)
  }
}

extension StockPicture {
  fileprivate var quantities: [ItemID: Quantity] {
    Dictionary(items.map { ($0.item, $0.quantity) }, uniquingKeysWith: +)
  }

  /// The amount of each fruit, without the vending machine's drinks.
  fileprivate func quantities(of assortment: Assortment) -> [ItemID: Quantity] {
    withoutDrinks(of: assortment).quantities
  }
}

extension ChaosAccount.Shelves {
  mutating func take(_ shop: ChaosShop) {
    recipes = Dictionary(
      shop.assortment.juices.map { ($0.id.name, $0.recipe) }, uniquingKeysWith: { first, _ in first })
    before = shop.before
    brought = shop.brought
    gaps = shop.gaps
  }
}
