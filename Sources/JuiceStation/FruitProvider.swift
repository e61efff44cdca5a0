// Owns how a juice station gets its fruit: the recipe of the juice that was ordered, and the stock that is asked for it
// under the name of the ticket. It must not know how long a juice takes, nor who ordered it.
// Invariant: one ticket is one order at the stock, by whomever it is served and however often, so a juice that is begun
// again after a crash finds the fruit that was put by for it.
// Failure: a stock that is away, or has no room on its disk, is a reason to ask again later and nobody's failure; what the
// stock refuses is one. Nothing is taken without an answer in the end.

import BankModel
import Posix
import StockClient
import Teller
import Time
import Wire

/// Gets the fruit for one juice at a time from the stock service.
public final class FruitProvider: Provider {
  /// Told every result.
  public var onProvided: ((Lease, Provision) -> Void)?

  private let loop: EventLoop
  private var client: StockClient?
  private var patience = TimeSpan.seconds(5)
  /// What the branch makes; nil until the stock has said so.
  private var assortment: Assortment?
  /// The welcome of the stock service under which it has said so: another process may have read another file.
  private var assortmentWelcome = 0
  private var wanted: Assignment?
  /// Questions for a customer so far: an answer to an earlier one is late.
  private var questions: UInt64 = 0

  /// A provider that waits on this loop.
  public init(loop: EventLoop) { self.loop = loop }

  /// The station was welcomed: from now on it knows where the stock is.
  public func begin(_ orders: TellerOrders) {
    guard let socket = orders.stockSocket else { return }
    client = StockClient(socket: socket, loop: loop)
    // The worker itself gives up after two beats, and asks for its next customer.
    patience = .microseconds(orders.beatMicroseconds) * 2
  }

  /// Begins to get the fruit for a juice.
  public func provide(_ assignment: Assignment) {
    wanted = assignment
    questions += 1
    let isSameService = client?.isConnected == true && client?.welcomes == assortmentWelcome
    let isKnown = assortment != nil && isSameService
    if isKnown { take(isFresh: false) } else { askForRecipes() }
  }

  /// When ``endTurn()`` has something to do by itself.
  public var nextDeadline: MonotonicTime? { client?.nextDeadline }
  /// The end of a turn of the loop.
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

  /// Takes the fruit. A juice that is not known may be new since the recipes were read.
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
      // A lease does not say of which day it is: after a reset the same one may be of another customer.
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

  /// What an answer comes to that is none.
  private static func trouble(_ result: Result<StockResult, StockClientError>) -> Provision {
    switch result {
    case .failure(let error):
      if case .tryLater = error { .later(error.description) } else { .unknown(error.description) }
    case .success(.failure(let failure)) where failure.code == .diskFull:
      .later("the stock has no room on its disk")
    case .success(.failure(let failure)):
      .unknown("the stock refuses: \(failure.code.name) \(failure.subject)")
    case .success: .unknown("the stock gave an answer that does not belong here")
    }
  }
}
