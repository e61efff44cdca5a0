// The restart decisions, without a process and without a clock.

import Supervision
import Testing
import Time

@Suite struct RestartPolicyTests {
  private func moment(_ seconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test("a worker that died at work is replaced at once, as often as it happens")
  func atWork() {
    var history = RestartHistory(policy: RestartPolicy(), seed: 1)
    for second in 0..<100 {
      history.becameReady(at: moment(Int64(second)))
      history.didWork()
      #expect(history.died(at: moment(Int64(second))) == .atOnce)
    }
    for second in 100..<200 {
      history.becameReady(at: moment(Int64(second)))
      #expect(
        history.died(at: moment(Int64(second) + 1)) == .atOnce, "there was nothing to do, and it was there")
    }
  }

  @Test("deaths before being ready are not consecutive if work was done between them")
  func goodBetween() {
    var history = RestartHistory(policy: RestartPolicy(), seed: 1)
    for round in 0..<100 {
      for _ in 0..<9 {
        guard case .after(let pause) = history.died(at: moment(Int64(round))) else {
          Issue.record("round \(round) gives up")
          return
        }
        #expect(pause <= .seconds(30))
      }
      history.becameReady(at: moment(Int64(round)))
      history.didWork()
      #expect(history.died(at: moment(Int64(round))) == .atOnce)
      #expect(history.deathsBeforeReady == 0)
    }
  }

  @Test(
    "one that dies as soon as it is ready, repeatedly, has its own pauses, then is given up"
  )
  func hasty() {
    let policy = RestartPolicy()
    var history = RestartHistory(policy: policy, seed: 1)
    func die() -> RestartDecision {
      history.becameReady(at: moment(1))
      return history.died(at: moment(1) + .milliseconds(199))
    }
    for _ in 0..<policy.immediateRestarts { #expect(die() == .atOnce) }
    var full: Int64 = 100_000_000
    for death in 1..<10 {
      guard case .after(let pause) = die() else {
        Issue.record("death \(death) is followed by a pause")
        return
      }
      #expect(pause.nanoseconds >= full / 2 && pause.nanoseconds <= full, "death \(death)")
      full = min(full * 2, 30_000_000_000)
    }
    #expect(history.deathsBeforeReady == 0)
    #expect(die() == .giveUp)
    // Work in between ends the run.
    history.becameReady(at: moment(2))
    history.didWork()
    #expect(history.died(at: moment(2)) == .atOnce && history.consecutiveDeaths == 0)
    #expect(die() == .atOnce)
  }

  @Test(
    "pauses before being ready double from 100 ms to 30 s, with jitter in the upper half, then it is given up"
  )
  func early() {
    for seed in 0..<200 {
      var history = RestartHistory(policy: RestartPolicy(), seed: UInt64(seed))
      var full: Int64 = 100_000_000
      for death in 1..<10 {
        guard case .after(let pause) = history.died(at: moment(0)) else {
          Issue.record("seed \(seed): death \(death) is followed by a pause")
          return
        }
        #expect(pause.nanoseconds >= full / 2 && pause.nanoseconds <= full, "seed \(seed), death \(death)")
        full = min(full * 2, 30_000_000_000)
      }
      #expect(history.died(at: moment(0)) == .giveUp)
      #expect(history.died(at: moment(0)) == .giveUp)
    }
  }

  @Test("the same seed pauses in the same way")
  func repeatable() {
    var one = RestartHistory(policy: RestartPolicy(), seed: 7)
    var two = RestartHistory(policy: RestartPolicy(), seed: 7)
    for _ in 0..<8 { #expect(one.died(at: moment(0)) == two.died(at: moment(0))) }
  }

  @Test("a calm minute at work forgets earlier deaths, a shorter time does not")
  func forgetAfter() {
    var history = RestartHistory(policy: RestartPolicy(), seed: 3)
    for _ in 0..<5 { _ = history.died(at: moment(0)) }
    history.becameReady(at: moment(10))
    _ = history.died(at: moment(69))
    #expect(history.deathsBeforeReady == 5)
    history.becameReady(at: moment(100))
    _ = history.died(at: moment(160))
    #expect(history.deathsBeforeReady == 0)
  }

  @Test("a new policy counts at once, for past deaths as well")
  func adopted() {
    var history = RestartHistory(policy: RestartPolicy(), seed: 3)
    for _ in 0..<4 { _ = history.died(at: moment(0)) }
    var policy = RestartPolicy()
    policy.patience = 5
    history.adopt(policy)
    #expect(history.died(at: moment(0)) == .giveUp)
  }

  @Test("a request of an operator restarts the count")
  func forgiven() {
    var history = RestartHistory(policy: RestartPolicy(), seed: 3)
    for _ in 0..<12 { _ = history.died(at: moment(0)) }
    history.clearHistory()
    guard case .after = history.died(at: moment(0)) else {
      Issue.record("after forgiveness there is a first pause again")
      return
    }
  }
}
