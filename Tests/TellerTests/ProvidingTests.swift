// A worker whose customers need something first: what starts when, the answer if it is missing, and that a
// late delivery is not taken for the present customer's.

import BankModel
import Testing
import Time
import Wire

@testable import Teller

@Suite("A worker that provides") struct ProvidingTests {
  private static let beat: Int64 = 1_000_000
  private static let customer = TestTeller.assignment(7)
  private static let missing = [Shortage(item: ItemID("kiwi"), needed: 3, available: 2)]

  /// A worker that has sent ready, with work of 500 ms and a beat of a second.
  private func ready(work: Int64 = 500_000, logsCustomers: Bool = true) -> TestTeller {
    var teller = TestTeller(machine: TellerMachine(build: "test", role: .juice, hasProvider: true))
    #expect(teller.when(.began) == [.send(.hello(Hello(build: "test", role: .juice)))])
    _ = teller.when(
      .received(.welcome(TestTeller.settings(work: work, beat: Self.beat, logsCustomers: logsCustomers))))
    return teller
  }

  @Test("first what the customer needs, then the work, which takes its whole time")
  func order() {
    var teller = ready()
    #expect(
      teller.when(.received(.assign(Self.customer)), at: 0) == [
        .log(.started(Self.customer)), .provide(Self.customer),
      ])
    #expect(teller.when(.timerFired, at: 400_000_000) == [], "waiting is not progress")
    #expect(
      teller.when(.provided(Self.customer.lease, .ready), at: 600_000_000) == [
        .send(.beat(Self.customer.lease))
      ])
    #expect(teller.machine.wakeAt == MonotonicTime(nanoseconds: 1_100_000_000))
    #expect(
      teller.when(.timerFired, at: 1_100_000_000) == [
        .log(.completed(Self.customer, took: .milliseconds(1_100))), .send(.done(Self.customer.lease)),
      ])
    #expect(teller.machine.wakeAt == nil)
  }

  @Test("work of no time is done as soon as all goods are there")
  func atOnce() {
    var teller = ready(work: 0, logsCustomers: false)
    #expect(teller.when(.received(.assign(Self.customer))) == [.provide(Self.customer)])
    #expect(teller.when(.provided(Self.customer.lease, .ready)) == [.send(.done(Self.customer.lease))])
  }

  @Test("a shortage is the answer, and the next customer may come")
  func missing() {
    var teller = ready()
    _ = teller.when(.received(.assign(Self.customer)))
    #expect(
      teller.when(.provided(Self.customer.lease, .missing(Self.missing))) == [
        .log(.outOfStock(Self.customer, Self.missing)), .send(.outOfStock(Self.customer.lease, Self.missing)),
      ])
    #expect(teller.machine.wakeAt == nil)
    let next = TestTeller.assignment(8)
    #expect(teller.when(.received(.assign(next))) == [.log(.started(next)), .provide(next)])
  }

  @Test("an unknown outcome is a failed attempt")
  func unknown() {
    var teller = ready()
    _ = teller.when(.received(.assign(Self.customer)))
    #expect(
      teller.when(.provided(Self.customer.lease, .unknown("why"))) == [
        .log(.failed(Self.customer, reason: "why")), .send(.failed(Self.customer.lease, WorkFailure("why"))),
      ])
  }

  @Test(
    "goods unavailable for now are not a failure: they are requested again after a pause"
  )
  func later() {
    var teller = ready(work: 0)
    _ = teller.when(.received(.assign(Self.customer)), at: 0)
    #expect(
      teller.when(.provided(Self.customer.lease, .later("full")), at: 0) == [
        .log(.delayed(Self.customer, reason: "full")), .send(.beat(Self.customer.lease)),
      ])
    var now: Int64 = 0
    for _ in 0..<100 {
      #expect(teller.machine.wakeAt == MonotonicTime(nanoseconds: now + 250_000_000))
      #expect(teller.when(.timerFired, at: now + 249_999_999) == [], "nothing spins")
      now += 250_000_000
      #expect(teller.when(.timerFired, at: now) == [.provide(Self.customer)])
      #expect(
        teller.when(.provided(Self.customer.lease, .later("full")), at: now) == [
          .send(.beat(Self.customer.lease))
        ])
    }
    _ = teller.when(.timerFired, at: now + 250_000_000)
    let done = teller.when(.provided(Self.customer.lease, .ready), at: now + 250_000_000)
    #expect(done.last == .send(.done(Self.customer.lease)))
  }

  @Test(
    "a stock silent for two beats is asked again, and the lease does not run out meanwhile")
  func silence() {
    var teller = ready(work: 0)
    _ = teller.when(.received(.assign(Self.customer)), at: 0)
    #expect(teller.machine.wakeAt == MonotonicTime(nanoseconds: 2_000_000_000))
    #expect(teller.when(.timerFired, at: 1_999_999_999) == [])
    #expect(teller.when(.timerFired, at: 2_000_000_000).last == .send(.beat(Self.customer.lease)))
    #expect(teller.when(.provided(Self.customer.lease, .ready), at: 2_000_000_001) == [], "too late")
    #expect(teller.when(.timerFired, at: 2_250_000_000) == [.provide(Self.customer)])
    #expect(
      teller.when(.provided(Self.customer.lease, .ready), at: 2_250_000_001).last
        == .send(.done(Self.customer.lease)))
  }

  @Test(
    "a customer waiting for goods is returned when the window closes, and so is a later one"
  )
  func closingSoon() {
    var teller = ready(work: 0)
    _ = teller.when(.received(.assign(Self.customer)))
    _ = teller.when(.provided(Self.customer.lease, .later("full")))
    #expect(
      teller.when(.received(.closing)) == [
        .log(.recalled(Self.customer)), .send(.returned(Self.customer.lease)),
      ])
    let next = TestTeller.assignment(8)
    _ = teller.when(.received(.assign(next)))
    #expect(teller.when(.provided(next.lease, .later("full"))).last == .send(.returned(next.lease)))
    let last = TestTeller.assignment(9)
    _ = teller.when(.received(.assign(last)))
    #expect(
      teller.when(.provided(last.lease, .ready)).last == .send(.done(last.lease)),
      "it serves the customers it can")
  }

  @Test("a customer recalled meanwhile is returned at once, and a late delivery is ignored")
  func recalled() {
    var teller = ready()
    _ = teller.when(.received(.assign(Self.customer)))
    #expect(
      teller.when(.received(.recall(Self.customer.lease))) == [
        .log(.recalled(Self.customer)), .send(.returned(Self.customer.lease)),
      ])
    let next = TestTeller.assignment(8)
    _ = teller.when(.received(.assign(next)))
    #expect(teller.when(.provided(Self.customer.lease, .ready)) == [])
    #expect(teller.when(.provided(Self.customer.lease, .missing(Self.missing))) == [])
    #expect(teller.when(.provided(next.lease, .ready)) == [.send(.beat(next.lease))])
    #expect(teller.when(.provided(next.lease, .ready)) == [], "once is enough")
  }

  @Test(
    "closing waits for the present customer, whether the stock has the goods or not",
    arguments: [true, false])
  func closing(hasIt: Bool) {
    var teller = ready(work: 0)
    _ = teller.when(.received(.assign(Self.customer)))
    #expect(teller.when(.received(.close)) == [])
    let actions = teller.when(.provided(Self.customer.lease, hasIt ? .ready : .missing(Self.missing)))
    #expect(actions.last == .exit(0))
    #expect(
      actions.contains(
        .send(hasIt ? .done(Self.customer.lease) : .outOfStock(Self.customer.lease, Self.missing))))
  }

  @Test("a teller at a bank's window provides nothing, and ignores messages about it")
  func banksWindow() {
    var teller = TestTeller.ready(work: 1_000)
    #expect(teller.when(.received(.assign(Self.customer))) == [.log(.started(Self.customer))])
    #expect(teller.when(.provided(Self.customer.lease, .missing(Self.missing))) == [])
  }
}
