// Handling of the requests to a stock service.
// Invariant: a subscriber receives the changes after its position in order and once, or an error if it is too slow.

import BankModel
import Logging
import Posix
import ServiceProcess
import StockCore
import Transport
import Wire

/// Limits of a subscription to the stock, in changes.
package struct SubscriptionLimits: Sendable {
  /// Maximum number of changes in one message.
  package var page = 500
  /// Maximum number of changes that a returning subscriber may have missed. With more it starts with a snapshot.
  package var replayed: Int64 = 10_000
  /// Maximum number of changes by which a subscriber may be late while it receives the missed ones.
  package var missed: Int64 = 100_000

  package init() {}
}

/// The stock service of one bank. Not Sendable: everything happens on the loop's thread.
package final class StockService<Machine: StockServiceMachine>: ServiceHandler {
  /// A request of a client to the stock, and the way to answer it.
  package typealias Call = ServiceCall<StockCommand, StockResult>
  /// The subscriptions of the stock's clients.
  package typealias Views = ServiceSubscriptions<StockRequest, StockResult>

  package static var executable: String { "bank-stockd" }
  /// What the service still does while the disk space is low, for messages.
  package static var lowSpaceNotice: String {
    "orders are processed and returned, other changes are rejected"
  }
  package static var audit: StockCommand { .audit }

  package let driver: MachineDriver<Machine, StockPersistence>
  package let clock = IterationClock()
  package let endpoints = [ServiceEndpoint("stock")]
  package let views = Views(
    tooSlow: .failure(StockFailure(.slowConsumer, detail: "the changes came faster than they were read")))

  private let limits: SubscriptionLimits
  private let assortment: Assortment
  /// Subscriptions that wait for their first snapshot, by call.
  private var awaitingSnapshot: [UInt64: Views.Subscription] = [:]

  package init(
    _ driver: MachineDriver<Machine, StockPersistence>, assortment: Assortment,
    limits: SubscriptionLimits = SubscriptionLimits()
  ) {
    self.driver = driver
    self.assortment = assortment
    self.limits = limits
  }

  /// Adds the fruits of the assortment that the stock does not have yet.
  package func begin() {
    views.missed = { [unowned self] place in missed(behind: place) }
    driver.seedItems(assortment.fruits.map { ItemAmount($0.id, $0.initial) }, at: clock.now)
  }

  /// Adds the numbers of items and changes to the line that reports the start.
  package func describe(in fields: inout LogFields) {
    fields.field("items", driver.machine.picture.items.count)
    fields.field("changes", driver.machine.durableSequence)
  }

  /// Decides how a request is handled.
  package func react(to request: StockRequest, _ call: Call) -> ServiceReaction<StockEvent, StockResult> {
    // If the client sends no day, the current day in UTC applies.
    let today = min(max(0, clock.now.wall.milliseconds / 86_400_000), StockLimits.days.upperBound)
    if let action = request.command.action(today: today) {
      return .event(.order(call.id, request.order, action))
    }
    switch request.command {
    case .assortment: return .answer(.assortment(assortment))
    case .querySnapshot: return .event(.querySnapshot(call.id))
    case .follow(let place): return follow(place, call)
    case .introduce(let items): return .event(.introduce(call.id, items))
    default: return .query()
    }
  }

  /// True if the answer says that the request was executed.
  package static func changesData(_ answer: StockAnswer) -> Bool {
    if case .done = answer { true } else { false }
  }

  /// Sends the stock's answer to a client; a subscription starts with the snapshot.
  package func reply(_ answer: StockAnswer, to call: Call) {
    guard let view = awaitingSnapshot.removeValue(forKey: call.id) else {
      return call.answer(StockResult(answer))
    }
    guard !view.isEnded else { return }
    guard case .snapshot(let picture) = answer else { return views.end(view, with: StockResult(answer)) }
    call.answer(StockResult(answer), more: true)
    begin(view, at: picture.sequence)
  }

  /// Answers a query of stored data; nil if the disk has failed.
  package func answer(_ query: StockCommand, of call: Call) -> StockResult? { driver.answer(query) }

  /// Starts a subscription after a position of the ledger, or with a snapshot.
  private func follow(_ place: StockPosition?, _ call: Call) -> ServiceReaction<StockEvent, StockResult> {
    guard let view = call.open(in: views) else {
      return .answer(
        .failure(
          StockFailure(.crowded, messageDetail: MessageDetail(.viewsOpen, call.subscriptionsPerClient))))
    }
    let settled = driver.machine.durableSequence
    let first = max(0, settled - limits.replayed)
    guard let place, place.ledger == driver.machine.ledger, place.sequence >= first, place.sequence <= settled
    else {
      awaitingSnapshot[call.id] = view
      return .event(.querySnapshot(call.id))
    }
    // A confirmation that the subscription exists and has missed nothing.
    if place.sequence == settled { call.answer(.changes([]), more: true) }
    if !Mutant.dropsReturningSubscriber.isActive { begin(view, at: place.sequence) }
    return .later
  }

  /// Starts a subscription after this position.
  private func begin(_ view: Views.Subscription, at sequence: Int64) {
    publish()
    views.begin(view, after: sequence == driver.machine.durableSequence ? nil : sequence)
  }

  /// Does nothing, unless a test has enabled the planted bug of publishing before the commit.
  package func beforeCommit() {
    guard Mutant.notifiesBeforeCommit.isActive else { return }
    publish()
    views.notify(at: clock.now.monotonic)
  }

  /// Sends subscribers the changes that were committed since the last publication.
  package func publish() {
    var fresh = driver.persistence.takeCommitted()[...]
    while !fresh.isEmpty {
      views.publish(.changes(Array(fresh.prefix(limits.page))))
      fresh = fresh.dropFirst(limits.page)
    }
  }

  /// The next changes after this position for a returning subscriber. If there are none, the reason: none missing, too
  /// many missing, or not readable now.
  private func missed(behind sequence: Int64) -> CatchUpStep<StockResult> {
    guard !driver.machine.hasUncommittedChanges, driver.failure == nil else { return .unavailableNow }
    let settled = driver.machine.durableSequence
    guard sequence < settled else { return .none }
    guard settled - sequence <= limits.missed else { return .tooMany }
    let place = sequence + (Mutant.skipsMissedChange.isActive ? 1 : 0)
    let page = driver.changes(after: place, limit: limits.page)
    return page.last.map { .next(.changes(page), upTo: $0.sequence) } ?? .unavailableNow
  }
}
