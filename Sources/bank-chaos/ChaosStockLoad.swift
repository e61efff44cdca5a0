// The stock in a chaos run: a client that adds and removes fruit, and a subscriber for the whole run.
// Invariant: a delivery has one permanent order ID and is repeated until its answer is permanent. The subscriber must
// receive every change once and in order, in spite of all kills.
// Errors: StockClientError if the stock does not answer at the start or at the end.
import BankModel
import ControlClient
import Posix
import StockClient
import Time
import Wire

final class ChaosStockLoad {
  let assortment: Assortment
  /// Amounts of fruit at the start, and the amounts added or removed since.
  let before: [ItemID: Quantity]
  private(set) var delivered: [ItemID: Quantity] = [:]
  /// Number of deliveries that were answered permanently.
  private(set) var deliveries: Int64 = 0
  /// Number of changes that the subscriber has received, and the deviations that it has found.
  private(set) var changesSeen: Int64 = 0
  private(set) var gaps: [MessageDetail] = []
  /// Permanent refusals and unexpected answers.
  private(set) var refusals: [MessageDetail] = []
  private let client: StockClient
  private let name: String
  private var chance: SeededGenerator
  /// The delivery without a permanent answer; nil for none.
  private var delivery: (order: OrderID, amount: ItemAmount)?
  private var isAsked = false
  private var count = 0
  private var nextAt = MonotonicTime(nanoseconds: 0)
  /// Number of the last change that the subscriber has received; nil before the first snapshot.
  private var seen: Int64?
  /// Amounts as the subscriber has followed them.
  private var shelves: [ItemID: Quantity] = [:]
  private static let timeout = TimeSpan.seconds(30)
  /// Range of the pieces in a delivery; a negative number removes fruit.
  private static let pieces: ClosedRange<Quantity> = -6...40
  /// Range of the pauses between two deliveries, in milliseconds.
  private static let pauses: ClosedRange<Int64> = 2...25

  init(_ home: BankHome, on loop: EventLoop, seed: UInt64, name: String) throws(StockClientError) {
    client = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    self.name = name
    chance = SeededGenerator(seed: seed ^ 0x6672_7569_7473)
    let answers = (
      try client.call(.assortment, within: Self.timeout),
      try client.call(.querySnapshot, within: Self.timeout)
    )
    guard case (.assortment(let assortment), .snapshot(let picture)) = answers else {
      throw .tryLater(detail: "\(answers)", isInDoubt: false)
    }
    self.assortment = assortment
    before = picture.quantities(of: assortment)
    client.follow { [unowned self] news in handle(news) }
  }

  /// True if no delivery waits for its answer.
  var isSettled: Bool { delivery == nil }

  /// Sends the open delivery, or a new one if `wantsMore` is true and the pause is over.
  func runIteration(_ now: MonotonicTime, wantsMore: Bool) {
    client.finishIteration()
    if delivery == nil, wantsMore, now >= nextAt { chooseRequest(now) }
    guard let delivery, !isAsked else { return }
    isAsked = true
    client.ask(.change(delivery.amount, nil), as: delivery.order, until: now + Self.timeout) {
      [unowned self] answer in
      handle(answer)
    }
    client.finishIteration()
  }

  /// Draws the next delivery: a fruit, and a number of pieces to add, or to remove if negative.
  private func chooseRequest(_ now: MonotonicTime) {
    nextAt = now + .milliseconds(chance.draw(Self.pauses))
    let fruit = assortment.fruits[Int(chance.draw(0...Int64(assortment.fruits.count) - 1))].id
    let pieces = chance.draw(Self.pieces)
    count += 1
    delivery = (OrderID("\(name)-fruit-\(count)"), ItemAmount(fruit, pieces == 0 ? 1 : pieces))
  }

  /// Records the answer to a delivery. One that was not answered permanently is sent again.
  private func handle(_ answer: Result<StockResult, StockClientError>) {
    isAsked = false
    guard let amount = delivery?.amount else { return }
    switch answer {
    case .success(.done):
      delivered[amount.item, default: 0] += amount.quantity
      // Sometimes the same delivery is sent again, which must have no effect.
      if chance.draw(1...8) == 1 {
        delivered[amount.item, default: 0] -= amount.quantity
        return
      }
    case .success(.short): break
    case .success(.failure(let failure)) where failure.code == .diskFull: return
    case .success(let other): refusals.append(MessageDetail(.wasRepliedOtherwise, amount.item, "\(other)"))
    // No answer in time: the same request is repeated.
    case .failure: return
    }
    deliveries += 1
    delivery = nil
  }

  /// Checks what the subscriber has received: a snapshot only at the start, then each change once and in order.
  private func handle(_ news: StockUpdate) {
    switch news {
    case .snapshot(let picture):
      // There is one snapshot at the start. A different later one means that changes were missed.
      if let seen, seen != picture.sequence {
        gaps.append(MessageDetail(.viewRestarted, seen, picture.sequence))
      }
      seen = picture.sequence
      shelves = picture.quantities
    case .changes(let changes): for change in changes { querySnapshot(at: change) }
    case .refused(let failure): gaps.append(MessageDetail(.viewRefused, failure.code.name))
    }
  }

  /// Checks that a change has the next number and leads to the reported amount.
  private func querySnapshot(at change: StockChange) {
    changesSeen += 1
    if change.sequence != (seen ?? 0) + 1 {
      gaps.append(MessageDetail(.viewOutOfOrder, seen ?? 0, change.sequence))
    }
    seen = change.sequence
    let there = shelves[change.item, default: 0] + change.difference
    shelves[change.item] = there
    if there != change.present {
      gaps.append(MessageDetail(.viewDiffers, change.sequence, change.present, change.item, there))
    }
  }

  /// Returns the amounts at the end, which the subscriber must have reached.
  func finish() throws(StockClientError) -> [ItemID: Quantity] {
    guard case .snapshot(let picture) = try client.call(.querySnapshot, within: Self.timeout) else {
      throw .tryLater(detail: "no snapshot", isInDoubt: false)
    }
    let deadline = SystemClock.monotonic() + Self.timeout
    while seen ?? 0 < picture.sequence, SystemClock.monotonic() < deadline {
      try client.runIteration(until: deadline)
    }
    if seen != picture.sequence {
      gaps.append(MessageDetail(.viewEndsEarly, picture.sequence, seen ?? 0))
    } else if shelves != picture.quantities {
      gaps.append(MessageDetail(.viewTotalDiffers))
    }
    return picture.quantities(of: assortment)
  }
}

extension StockSnapshot {
  fileprivate var quantities: [ItemID: Quantity] {
    Dictionary(items.map { ($0.item, $0.quantity) }, uniquingKeysWith: +)
  }

  /// The amount of each fruit, without the vending machine's drinks.
  fileprivate func quantities(of assortment: Assortment) -> [ItemID: Quantity] {
    withoutDrinks(of: assortment).quantities
  }
}

extension ChaosCheckResult.StockTotals {
  /// Copies the amounts and deviations of the run's load.
  mutating func take(_ stockLoad: ChaosStockLoad) {
    recipes = Dictionary(
      stockLoad.assortment.juices.map { ($0.id.name, $0.recipe) }, uniquingKeysWith: { first, _ in first })
    before = stockLoad.before
    delivered = stockLoad.delivered
    gaps = stockLoad.gaps
  }
}
