// Owns how a simulated juice station gets its fruit, line for line as the real `FruitProvider` does: the recipe of the
// juice that was ordered, and the stock that is asked for it under the name of the ticket. It must not know the queue.
// Invariant: one ticket is one order at the stock, by whomever it is served and however often.

import BankModel
import Teller
import Wire

/// Gets the fruit for one juice at a time.
final class SimulatedStation {
  private unowned let world: Simulation
  private unowned let teller: SimulatedTeller
  let asker: SimulatedAsker<StockCommand>
  private var patience = TimeSpan.seconds(5)
  /// What the branch makes; nil until the stock has said so.
  private var assortment: Assortment?
  private var wanted: Assignment?
  /// Questions for a customer so far: an answer to an earlier one is late.
  private var questions: UInt64 = 0

  init(_ teller: SimulatedTeller, world: Simulation) {
    self.teller = teller
    self.world = world
    asker = world.newAsker()
  }

  /// The station was welcomed. It is a little less patient than the real one, whose client is in its own process: here the
  /// silence of the stock would otherwise be heard only after the teller has given up.
  func begin(_ orders: TellerOrders) { patience = TimeSpan(nanoseconds: orders.beatMicroseconds * 1_500) }

  /// Begins to get the fruit for a juice.
  func provide(_ assignment: Assignment) {
    wanted = assignment
    questions += 1
    if assortment == nil { askForRecipes() } else { take(isFresh: false) }
  }

  private var deadline: MonotonicTime { world.clock.now + patience }

  private func askForRecipes() {
    let question = questions
    asker.ask(.assortment, until: deadline) { [unowned self] result in
      guard questions == question else { return }
      guard case .assortment(let assortment)? = result else { return answer(.later("no recipes")) }
      self.assortment = assortment
      take(isFresh: true)
    }
  }

  private func take(isFresh: Bool) {
    guard let assignment = wanted else { return }
    guard let name = assignment.payload.flatMap(JuiceOrder.init)?.juice,
      let juice = assortment?.juices.first(where: { $0.id == name })
    else {
      if !isFresh { return askForRecipes() }
      return answer(.unknown("there is no such juice"))
    }
    if world.bug == .servesWithoutTaking, assignment.ticket % 5 == 0 {
      // Never from within the request of the machine.
      return asker.ask(.assortment, until: deadline) { [unowned self] _ in answer(.ready) }
    }
    var order = OrderID(day: assignment.day, ticket: assignment.ticket)
    if world.bug == .asksAnewEachAttempt { order = OrderID("\(order)-\(assignment.attempt)") }
    let question = questions
    asker.ask(.take(juice.recipe, today: nil), as: order, until: deadline) { [unowned self] result in
      guard wanted == assignment, questions == question else { return }
      switch result {
      case .done?:
        // What is put by is put by, and nobody has been told.
        if world.stationMeetsItsEnd(teller) { return }
        answer(.ready)
      case .short(let shortages)?: answer(.missing(shortages))
      case .failure(let failure)? where failure.code == .diskFull: answer(.later("the stock has no room"))
      case .failure(let failure)?: answer(.unknown("the stock refuses: \(failure.code.rawValue)"))
      case nil where world.bug == .takesSilenceForShortage:
        let shortages = juice.recipe.map { Shortage(item: $0.item, needed: $0.quantity, available: 0) }
        answer(.missing(shortages))
      case nil: answer(.later("the stock did not answer in time"))
      default: answer(.unknown("the stock gave an answer that does not belong here"))
      }
    }
  }

  private func answer(_ provision: Provision) {
    guard let lease = wanted?.lease else { return }
    wanted = nil
    teller.provided(lease, provision)
  }
}

/// What a simulated customer orders: a juice, and a number by which the order is known again.
struct JuiceOrder {
  let juice: ItemID
  let account: AccountNumber

  /// Puts the parts together.
  init(juice: ItemID, account: AccountNumber) {
    self.juice = juice
    self.account = account
  }

  /// Reads a payload; nil where it is none.
  init?(_ payload: String) {
    let words = payload.split(separator: " ")
    guard words.count == 2, let account = AccountNumber(words[1]) else { return nil }
    self.init(juice: ItemID(String(words[0])), account: account)
  }

  /// The payload of the customer.
  var payload: String { "\(juice) \(account)" }
}
