// Fruit supply of a juice station: the recipe of the ordered juice, and the request to the stock under the
// name of the ticket.
// Invariant: one ticket is one order at the stock, however often it is served and by which station. So a juice
// that is restarted after a crash finds the fruit that was reserved for it.
// Errors: if the stock is unavailable or its disk is full, the request is repeated later and does not count as a
// failure.

import BankModel
import Posix
import StockClient
import Teller
import Time
import Wire

/// Obtains the fruit for one juice at a time from the stock service.
public final class FruitProvider: ResourceProvider {
  /// Receives the result of a customer's request.
  public var onResult: ((Lease, ProvisionResult) -> Void)?

  private let loop: EventLoop
  private var client: StockClient?
  /// Time after which a request to the stock is given up.
  private var stockTimeout = TimeSpan.seconds(5)
  /// Assortment of the bank; nil until the stock has sent it.
  private var assortment: Assortment?
  /// Number of the connection on which the stock sent the assortment. After a reconnect another process may have read
  /// another file.
  private var assortmentConnection = 0
  /// The customer whose fruit is being obtained; nil if there is none.
  private var current: Assignment?
  /// Used without a client: the first ``finishIteration()`` after ``provide(_:)`` reports no result.
  private var isNew = false
  /// Number of calls of ``provide(_:)`` so far. An answer to a request of an earlier call is ignored.
  private var requestCount: UInt64 = 0

  /// A provider that waits on this loop.
  public init(loop: EventLoop) { self.loop = loop }

  /// Receives the settings with the socket of the stock, and makes the client for it.
  public func begin(_ orders: TellerSettings) {
    guard let socket = orders.stockSocket else { return }
    client = StockClient(socket: socket, loop: loop)
    // The worker itself stops waiting after two beats, and then asks again or returns the customer.
    stockTimeout = .microseconds(orders.beatMicroseconds) * 2
  }

  /// Starts to obtain the fruit for a juice.
  public func provide(_ assignment: Assignment) {
    (current, isNew) = (assignment, true)
    requestCount += 1
    let isSameService = client?.isConnected == true && client?.connectionCount == assortmentConnection
    let isKnown = assortment != nil && isSameService
    if isKnown { take(isFresh: false) } else { requestRecipes() }
  }

  /// Time of the next useful ``finishIteration()``; nil for never.
  public var nextDeadline: MonotonicTime? {
    client == nil && current != nil ? MonotonicTime(nanoseconds: 0) : client?.nextDeadline
  }

  /// Sends pending requests at the end of a loop iteration. Reports a failure if the settings named no stock.
  public func finishIteration() {
    if let client { return client.finishIteration() }
    if isNew { isNew = false } else { answer(.unknown("the settings name no stock service")) }
  }

  /// Latest time for an answer to a request that is sent now.
  private var deadline: MonotonicTime { SystemClock.monotonic() + stockTimeout }

  /// Asks the stock for its assortment, and then requests the fruit.
  private func requestRecipes() {
    guard let client else { return }
    let requestNumber = requestCount
    client.ask(.assortment, until: deadline) { [weak self] result in
      guard let self, self.requestCount == requestNumber else { return }
      guard case .success(.assortment(let assortment)) = result else {
        return self.answer(Self.errorResult(result))
      }
      self.assortment = assortment
      self.assortmentConnection = self.client?.connectionCount ?? 0
      self.take(isFresh: true)
    }
  }

  /// Requests the fruit of the current juice by its recipe. If the recipes do not contain the juice, they are requested
  /// once more, unless `isFresh` says that they have just arrived.
  private func take(isFresh: Bool) {
    guard let assignment = current, let client else { return }
    guard let juice = assortment?.juices.first(where: { $0.id.name == assignment.itemName }) else {
      if !isFresh { return requestRecipes() }
      return answer(.unknown("there is no juice \(assignment.itemName ?? "without a name")"))
    }
    var order = assignment.order ?? OrderID(day: assignment.day, ticket: assignment.ticket)
    if Mutant.ordersOncePerAttempt.isActive { order = OrderID("\(order)-\(assignment.attempt)") }
    let requestNumber = requestCount
    client.ask(.take(juice.recipe, today: nil), as: order, until: deadline) { [weak self] result in
      // A lease does not contain the day: after a reset the same lease may belong to another customer.
      guard let self else { return }
      let isCurrent = self.current == assignment && self.requestCount == requestNumber
      guard isCurrent || Mutant.acceptsLateAnswer.isActive else { return }
      switch result {
      case .success(.done): self.answer(.ready)
      case .success(.short(let shortages)): self.answer(.missing(shortages))
      case .failure where Mutant.treatsTimeoutAsShortage.isActive,
        .success(.failure) where Mutant.treatsStockDiskFullAsShortage.isActive:
        self.answer(.missing(juice.recipe.map { Shortage(item: $0.item, needed: $0.quantity, available: 0) }))
      default: self.answer(Self.errorResult(result))
      }
    }
  }

  private func answer(_ provisionResult: ProvisionResult) {
    guard let lease = current?.lease else { return }
    current = nil
    onResult?(lease, provisionResult)
  }

  /// Converts an error or a refusal of the stock into a result: `later` if the request can be tried again later, else
  /// `unknown`.
  private static func errorResult(_ result: Result<StockResult, StockClientError>) -> ProvisionResult {
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
