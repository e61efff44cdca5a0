// The vending machine in a chaos run: a client that fills it, inserts money, buys and takes the change, one
// request after the other, and records the answers.
// Invariant: a request has one permanent order ID and is repeated until its answer is permanent.
// Errors: VendingClientError if the machine does not answer at the start or at the end.
import BankModel
import BankctlCommands
import ControlClient
import Posix
import Time
import VendingClient
import Wire

final class ChaosVendingLoad {
  /// Number of bought drinks.
  private(set) var purchases: Int64 = 0
  /// Refusals, unexpected answers, and differences between the machine and its answers.
  private(set) var problems: [MessageDetail] = []
  private let customers: VendingClient
  private let managers: VendingClient
  private let name: String
  private var chance: SeededGenerator
  private let products: [ItemID]
  /// Balance and amounts as the answers imply them.
  private var balance: Won
  private var quantities: [ItemID: Quantity]
  /// The purchases, from the answers.
  private var bought: [MoneyChange] = []
  /// Sequence number of the last change of the money before the run.
  private let firstSequence: Int64
  /// The request without a permanent answer; nil for none.
  private var pendingRequest: (order: OrderID, command: VendingCommand)?
  private var isAsked = false
  private var count = 0
  private var nextAt = MonotonicTime(nanoseconds: 0)
  private static let timeout = TimeSpan.seconds(30)
  /// Range of the pauses between two requests, in milliseconds.
  private static let pauses: ClosedRange<Int64> = 1...10

  init(_ home: BankHome, on loop: EventLoop, seed: UInt64, name: String) throws(VendingClientError) {
    customers = VendingClient(socket: VendingClient.customersSocket(inHome: home.path), loop: loop)
    managers = VendingClient(socket: VendingClient.managersSocket(inHome: home.path), loop: loop)
    self.name = name
    chance = SeededGenerator(seed: seed ^ 0x6472_696E_6B73)
    let picture = try Self.querySnapshot(customers)
    // Choose few products, so that most purchases succeed, and sometimes a product is sold out.
    products = picture.products.prefix(4).map(\.id)
    balance = picture.balance
    quantities = picture.quantities
    firstSequence = picture.sequence
  }

  /// True if no request waits for its answer.
  var isSettled: Bool { pendingRequest == nil }

  /// Sends the open request, or a new one if `wantsMore` is true and the pause is over.
  func runIteration(_ now: MonotonicTime, wantsMore: Bool) {
    customers.finishIteration()
    managers.finishIteration()
    if pendingRequest == nil, wantsMore, now >= nextAt { chooseRequest(now) }
    guard let pendingRequest, !isAsked else { return }
    isAsked = true
    let client = pendingRequest.command.side == .manager ? managers : customers
    client.ask(pendingRequest.command, as: pendingRequest.order, until: now + Self.timeout) {
      [unowned self] in handle($0)
    }
    client.finishIteration()
  }

  /// Draws a purchase, an insertion of money, a delivery, or the return of the change.
  private func chooseRequest(_ now: MonotonicTime) {
    nextAt = now + .milliseconds(chance.draw(Self.pauses))
    let product = products[Int(chance.draw(0...Int64(products.count) - 1))]
    let command: VendingCommand =
      switch chance.draw(1...20) {
      case 1: .giveChange
      case 2...5: .insert(chance.draw(1...2) == 1 ? 5_000 : 50_000)
      case 6...8: .add(AddedDrinks(product: product, quantity: chance.draw(1...20)))
      default: .buy(product)
      }
    count += 1
    pendingRequest = (OrderID("\(name)-v\(count)"), command)
  }

  /// Compares an answer with the expected balance. A request without a permanent answer is sent again.
  private func handle(_ answer: Result<VendingResult, VendingClientError>) {
    isAsked = false
    guard let pendingRequest else { return }
    switch answer {
    case .success(.done(let change)):
      balance += change.difference
      if change.balance != balance {
        problems.append(MessageDetail(.balanceAfter, pendingRequest.order, change.balance, balance))
      }
      guard change.kind == .bought, let product = change.product else { break }
      quantities[product, default: 0] -= 1
      purchases += 1
      bought.append(change)
    case .success(.stocked(let changes)):
      for change in changes { quantities[change.item, default: 0] += change.difference }
    case .success(.failure(let failure)):
      switch failure.code {
      case .diskFull, .crowded: return
      // The order ID of an abandoned purchase buys nothing any more; a delivery is repeated.
      case .stockUnavailable where pendingRequest.command.side == .manager: return
      case .tooLittleMoney, .soldOut, .onlyExpired, .stockUnavailable: break
      default:
        problems.append(
          MessageDetail(.wasRefused, "\(pendingRequest.command)", "\(failure.code.name) \(failure.detail)"))
      }
    case .success(let other):
      problems.append(MessageDetail(.wasRepliedOtherwise, "\(pendingRequest.command)", "\(other)"))
    // No answer in time: the same request is repeated.
    case .failure: return
    }
    self.pendingRequest = nil
  }

  /// Queries the products and the balance of the machine.
  private static func querySnapshot(_ customers: VendingClient) throws(VendingClientError) -> VendingSnapshot
  {
    guard case .snapshot(let picture) = try customers.call(.querySnapshot, within: timeout) else {
      throw .tryLater(detail: "no snapshot", isInDoubt: false)
    }
    return picture
  }

  /// Compares balance, amounts and purchases of the machine with the answers.
  func finish() throws(VendingClientError) {
    var picture = try Self.querySnapshot(customers)
    // A drink that was taken for an abandoned purchase is returned after a moment.
    let deadline = SystemClock.monotonic() + Self.timeout
    while picture.quantities != quantities, SystemClock.monotonic() < deadline {
      Pause.momentarily()
      picture = try Self.querySnapshot(customers)
    }
    if picture.balance != balance { problems.append(MessageDetail(.balanceIs, picture.balance, balance)) }
    for (product, quantity) in picture.quantities where quantities[product, default: 0] != quantity {
      problems.append(MessageDetail(.drinksAre, quantity, product, quantities[product, default: 0]))
    }
    var (history, last) = ([MoneyChange](), firstSequence)
    while true {
      let page = PurchasePage(after: last, limit: 500)
      guard case .history(let rows) = try customers.call(.history(page), within: Self.timeout),
        let end = rows.last?.sequence
      else { break }
      history += rows
      last = end
    }
    if history != bought {
      problems.append(MessageDetail(.purchaseCountDiffers, history.count, bought.count))
    }
  }
}

extension VendingSnapshot {
  /// The number of pieces of each product, including expired ones.
  fileprivate var quantities: [ItemID: Quantity] {
    Dictionary(products.map { ($0.id, $0.stock + $0.expired) }, uniquingKeysWith: +)
  }
}
