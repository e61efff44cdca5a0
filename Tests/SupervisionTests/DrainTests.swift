// The four steps of a drain, without a process and without a clock: observations are the input, actions are
// the output.

import BankModel
import Supervision
import Testing
import Time

@Suite("The drain") struct DrainTests {
  /// A drain, the bank that it sees, and the time.
  private struct Bank {
    var drain = Drain(at: MonotonicTime(nanoseconds: 0))
    var input = DrainInput(isTakingIn: false, hasWaiting: true, isDrained: false, tellers: 2)
    var now = MonotonicTime(nanoseconds: 0)

    mutating func evaluate() -> [DrainAction] { drain.evaluate(at: input, now: now) }
    mutating func pass(_ milliseconds: Int64) { now = now + .milliseconds(milliseconds) }
    mutating func ask(for step: DrainStep? = nil, bound: Int64? = nil) {
      drain.ask(for: step, bound: bound.map { .milliseconds($0) }, at: now)
    }
  }

  @Test("without a bound all are served: four steps in order, each started once")
  func patient() {
    var bank = Bank()
    bank.input.isTakingIn = true
    bank.ask()
    #expect(bank.evaluate() == [.begin(.stopAccepting), .stopAccepting])
    #expect(bank.drain.nextDeadline == nil)
    bank.pass(5)
    #expect(bank.evaluate() == [])
    bank.input.isTakingIn = false
    #expect(bank.evaluate() == [.begin(.serveWaiting)])
    bank.pass(1_000_000)
    #expect(bank.evaluate() == [])
    bank.input.hasWaiting = false
    #expect(bank.evaluate() == [.begin(.finishServing)])
    bank.pass(700)
    #expect(bank.evaluate() == [])
    bank.input.isDrained = true
    #expect(bank.evaluate() == [.begin(.kill), .dismiss])
    bank.pass(3)
    #expect(bank.evaluate() == [])
    bank.input.tellers = 0
    #expect(bank.evaluate() == [.end])
    #expect(bank.evaluate() == [])
    let spans = bank.drain.spans(at: bank.now)
    #expect(spans.map(\.step) == DrainStep.allCases)
    #expect(spans.map(\.span.milliseconds) == [5, 1_000_000, 700, 3])
  }

  @Test("an empty bank goes through all four steps at once")
  func empty() {
    var bank = Bank()
    bank.input = DrainInput(isTakingIn: false, hasWaiting: false, isDrained: true, tellers: 0)
    #expect(
      bank.evaluate() == [
        .begin(.stopAccepting), .stopAccepting, .begin(.serveWaiting), .begin(.finishServing), .begin(.kill),
        .dismiss,
        .end,
      ])
    #expect(bank.drain.spans(at: bank.now).map(\.step) == DrainStep.allCases)
  }

  @Test("each step has the bound to itself, and its rest is ended with more force")
  func bounded() {
    var bank = Bank()
    bank.input.isTakingIn = true
    bank.ask(bound: 500)
    #expect(bank.evaluate() == [.begin(.stopAccepting), .stopAccepting])
    bank.pass(499)
    #expect(bank.evaluate() == [])
    bank.pass(1)
    #expect(bank.evaluate() == [.turnAway, .begin(.serveWaiting)])
    bank.pass(499)
    #expect(bank.evaluate() == [])
    #expect(bank.drain.nextDeadline == bank.now + .milliseconds(1))
    bank.pass(1)
    #expect(bank.evaluate() == [.stopAssigning, .begin(.finishServing)])
    bank.pass(500)
    #expect(bank.evaluate() == [.begin(.kill), .returnServing, .dismiss])
    bank.pass(499)
    #expect(bank.evaluate() == [])
    bank.pass(1)
    #expect(bank.evaluate() == [.killRemaining])
    #expect(bank.drain.nextDeadline == nil, "a process that was sent SIGKILL is waited for")
    bank.input.tellers = 0
    #expect(bank.evaluate() == [.end])
  }

  @Test("idle tellers get time to finish their logs, and never more than three seconds")
  func leaving() {
    for (bound, grace) in [(nil, 3_000), (0, 100), (60_000, 3_000), (800, 800)] as [(Int64?, Int64)] {
      var bank = Bank()
      bank.input.hasWaiting = false
      bank.input.isDrained = true
      bank.ask(bound: bound)
      #expect(bank.evaluate().last == .dismiss)
      #expect(bank.drain.nextDeadline == bank.now + .milliseconds(grace))
    }
  }

  @Test("a bound of zero goes through every step at once, and kills")
  func noTime() {
    var bank = Bank()
    bank.input.isTakingIn = true
    bank.ask(bound: 0)
    #expect(
      bank.evaluate() == [
        .begin(.stopAccepting), .stopAccepting, .turnAway, .begin(.serveWaiting), .stopAssigning,
        .begin(.finishServing),
        .begin(.kill), .returnServing, .dismiss,
      ])
  }

  @Test("each further request advances the drain by one step")
  func further() {
    var bank = Bank()
    bank.ask()
    #expect(bank.evaluate().last == .begin(.serveWaiting))
    bank.drain.requestNextStep(at: bank.now)
    #expect(bank.evaluate() == [.stopAssigning, .begin(.finishServing)])
    #expect(bank.evaluate() == [])
    bank.drain.requestNextStep(at: bank.now)
    #expect(bank.evaluate() == [.begin(.kill), .returnServing, .dismiss])
    bank.drain.requestNextStep(at: bank.now)
    #expect(bank.evaluate() == [])
    #expect(bank.drain.nextDeadline != nil)
  }

  @Test("a step requested by name is not skipped, and one that has started is not repeated")
  func named() {
    var bank = Bank()
    bank.ask(for: .finishServing)
    #expect(bank.evaluate().suffix(2) == [.stopAssigning, .begin(.finishServing)])
    bank.ask(for: .finishServing)
    bank.ask(for: .serveWaiting)
    #expect(bank.evaluate() == [])
    bank.ask(for: .kill)
    #expect(bank.evaluate() == [.begin(.kill), .returnServing, .dismiss])
  }

  @Test("the shortest requested bound counts, from the time of its request")
  func bounds() {
    var bank = Bank()
    bank.ask(bound: 10_000)
    _ = bank.evaluate()
    bank.pass(1_000)
    bank.ask(bound: 2_000)
    #expect(bank.drain.nextDeadline == bank.now + .milliseconds(2_000))
    bank.ask(bound: 60_000)
    #expect(bank.drain.nextDeadline == bank.now + .milliseconds(2_000))
    bank.pass(2_000)
    #expect(bank.evaluate() == [.stopAssigning, .begin(.finishServing)])
    #expect(bank.drain.nextDeadline == bank.now + .milliseconds(2_000))
  }

  @Test("a drain that is over is not waited for, and a further request does not restart it")
  func over() {
    var bank = Bank()
    bank.input = DrainInput(isTakingIn: false, hasWaiting: false, isDrained: true, tellers: 0)
    bank.ask(bound: 500)
    #expect(bank.evaluate().last == .end)
    #expect(bank.drain.nextDeadline == nil)
    bank.ask(for: .kill, bound: 100)
    #expect(bank.drain.nextDeadline == nil && bank.evaluate() == [])
  }

  @Test("nothing makes a drain go back")
  func forwardOnly() {
    var bank = Bank()
    bank.input.hasWaiting = false
    _ = bank.evaluate()
    #expect(bank.drain.step == .finishServing)
    bank.input.hasWaiting = true
    bank.input.isTakingIn = true
    #expect(bank.evaluate() == [])
    #expect(bank.drain.step == .finishServing)
  }
}
