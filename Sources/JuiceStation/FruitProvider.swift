// Fruit supply of a juice station: the recipe of the ordered juice, and the request to the stock under the
// name of the ticket.
// Invariant: one ticket is one order at the stock, however often it is served and by which station. So a
// juice that is restarted after a crash finds the fruit that was reserved for it.
// Errors: if the stock is unavailable or its disk is full, the request is repeated later and does not count as a
// failure. Any other refusal or error counts as a failure. If an answer is lost, the fruit stays reserved under the
// name of the ticket.

import BankModel
import Posix
import StockClient
import Teller
import Time
import Wire

/// Obtains the fruit for one juice at a time from the stock service.
public final class FruitProvider: Provider {
  /// Receives the result of each customer's request.
  public var onProvided: ((Lease, Provision) -> Void)?

  private let loop: EventLoop
  private var client: StockClient?
  private var patience = TimeSpan.seconds(5)
  /// Assortment of the bank; nil until the stock has sent it.
  private var assortment: Assortment?
  /// Number of the connection on which the stock sent the assortment. After a reconnect another process may have read
  /// another file.
  private var assortmentWelcome = 0
  private var wanted: Assignment?
  /// Number of calls of ``provide(_:)`` so far. An answer to a request of an earlier call is ignored.
  private var questions: UInt64 = 0

  /// A provider that waits on this loop.
  public init(loop: EventLoop) { self.loop = loop }

  /// Connects to the stock named in the orders.
  public func begin(_ orders: TellerOrders) {
    guard let socket = orders.stockSocket else { return }
    client = StockClient(socket: socket, loop: loop)
    // The worker itself gives up after two beats, and retries or serves its next customer.
    patience = .microseconds(orders.beatMicroseconds) * 2
  }

  /// Starts to obtain the fruit for a juice.
  public func provide(_ assignment: Assignment) {
    wanted = assignment
    questions += 1
    let isSameService = client?.isConnected == true && client?.welcomes == assortmentWelcome
    let isKnown = assortment != nil && isSameService
    if isKnown { take(isFresh: false) } else { askForRecipes() }
  }

  /// Time of the next useful ``endTurn()``; nil for never.
  public var nextDeadline: MonotonicTime? { client?.nextDeadline }
  /// Sends pending requests at the end of a loop iteration.
  public func endTurn() { client?.endTurn() }
  private var deadline: MonotonicTime { SystemClock.monotonic() + patience }

  private func askForRecipes() {
    guard let client else { return answer(.unknown("the orders name no stock service")) }
    let question = questions
    client.ask(.assortment, until: deadline) { [weak self] result in
      guard let self, self.questions == question else { return }
      guard case .success(.assortment(let assortment)) = result else {
        return self.answer(Self.trouble(result))
      }
      self.assortment = assortment
      self.assortmentWelcome = self.client?.welcomes ?? 0
      self.take(isFresh: true)
    }
  }

  /// Takes the fruit. An unknown juice may be newer than the recipes, so they are requested again once.
  private func take(isFresh: Bool) {
    guard let assignment = wanted, let client else { return }
    guard let juice = assortment?.juices.first(where: { $0.id.name == assignment.article }) else {
      if !isFresh { return askForRecipes() }
      return answer(.unknown("there is no juice \(assignment.article ?? "without a name")"))
    }
    var order = assignment.order ?? OrderID(day: assignment.day, ticket: assignment.ticket)
    if Kernel.makes("asksAnewEachAttempt") { order = OrderID("\(order)-\(assignment.attempt)") }
    let question = questions
    client.ask(.take(juice.recipe, today: nil), as: order, until: deadline) { [weak self] result in
      // A lease does not contain the day: after a reset the same lease may belong to another customer.
      guard let self else { return }
      let isMeant = self.wanted == assignment && self.questions == question
      guard isMeant || Kernel.makes("believesALateAnswer") else { return }
      switch result {
      case .success(.done): self.answer(.ready)
      case .success(.short(let shortages)): self.answer(.missing(shortages))
      case .failure where Kernel.makes("takesSilenceForShortage"),
        .success(.failure) where Kernel.makes("takesAFullStockForShortage"):
        self.answer(.missing(juice.recipe.map { Shortage(item: $0.item, needed: $0.quantity, available: 0) }))
      default: self.answer(Self.trouble(result))
      }
    }
  }

  private func answer(_ provision: Provision) {
    guard let lease = wanted?.lease else { return }
    wanted = nil
    onProvided?(lease, provision)
  }

  /// Result for an error or a refusal of the stock.
  private static func trouble(_ result: Result<StockResult, StockClientError>) -> Provision {
    switch result {
    case .failure(let error):
      if case .tryLater = error { .later(error.description) } else { .unknown(error.description) }
    case .success(.failure(let failure)) where failure.code == .diskFull:
      .later("the disk of the stock is full")
    case .success(.failure(let failure)):
      .unknown("the stock refuses: \(failure.code.name) \(failure.subject)")
    case .success: .unknown("the stock sent an unexpected response")
    }
  }
}
