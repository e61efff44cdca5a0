// The decision of a guardian whose coordinator has ended, without a process and without a clock.
import Supervision
import Testing
import Time

@testable import Guardian

@Suite struct GuardianPolicyTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private func policy(_ phase: GuardianPolicy.Phase = .opening, hasOpened: Bool = false) -> GuardianPolicy {
    GuardianPolicy(phase: phase, hasOpened: hasOpened, seed: 1, at: start)
  }

  private static let ends: [CoordinatorExit] = [.code(1), .code(70), .signal(9), .unknown]

  @Test(
    "a bank that never opened is left to its starter, with the coordinator's own code",
    arguments: ends)
  func neverOpened(end: CoordinatorExit) {
    var policy = policy()
    #expect(policy.ended(end, at: start) == .end(.neverOpened(end)))
    #expect(GuardianOutcome.neverOpened(.code(70)).exitCode == 70)
    #expect(GuardianOutcome.neverOpened(.signal(9)).exitCode == 137)
  }

  @Test("a coordinator that died at work is restarted at once, as often as it happens", arguments: ends)
  func atWork(end: CoordinatorExit) {
    var policy = policy()
    var now = start
    for _ in 0..<100 {
      policy.opened(at: now)
      #expect(policy.phase == .open)
      now = now + .milliseconds(600)
      #expect(policy.ended(end, at: now) == .restart)
      #expect(policy.phase == .opening)
    }
  }

  @Test("one that opens and dies of it repeatedly is restarted without end, but not in a tight loop")
  func storm() {
    var policy = policy()
    var now = start
    for death in 1...1_000 {
      policy.opened(at: now)
      now = now + .milliseconds(20)
      switch policy.ended(.signal(11), at: now) {
      case .restart: break
      case .restartAfter(let pause): now = now + pause
      case .end(let end): Issue.record("\(end) after \(death) deaths")
      }
    }
    #expect(now.since(start) > .seconds(480), "about two a second")
    now = now + GuardianPolicy.crashLoopSpan
    policy.opened(at: now)
    #expect(
      policy.ended(.signal(9), at: now) == .restart, "and a calm while restores the former speed")
  }

  @Test("a coordinator that dies while it reopens the bank is restarted ever slower, then given up")
  func crashLoop() {
    for seed in UInt64(0)..<100 {
      var policy = GuardianPolicy(seed: seed, at: start)
      policy.opened(at: start)
      #expect(policy.ended(.signal(9), at: start) == .restart)
      var total = TimeSpan.zero
      for death in 1..<10 {
        guard case .restartAfter(let pause) = policy.ended(.code(1), at: start) else {
          Issue.record("seed \(seed): death \(death) is followed by a pause")
          return
        }
        #expect(pause >= .milliseconds(50) && pause <= .seconds(30), "seed \(seed)")
        total = total + pause
      }
      #expect(policy.ended(.code(1), at: start) == .end(.givenUp(.code(1))), "seed \(seed)")
      #expect(total > .seconds(20), "seed \(seed): a storm is throttled")
    }
    #expect(GuardianOutcome.givenUp(.code(1)).exitCode == 1)
  }

  @Test("deaths while the bank is reopened are not consecutive if the bank was open between them")
  func openBetween() {
    for seed in UInt64(0)..<20 {
      var policy = GuardianPolicy(seed: seed, at: start)
      var now = start
      for round in 1...100 {
        policy.opened(at: now)
        now = now + .seconds(5)
        #expect(policy.ended(.signal(9), at: now) == .restart, "seed \(seed), round \(round)")
        for _ in 1...9 {
          guard case .restartAfter(let pause) = policy.ended(.signal(9), at: now) else {
            Issue.record("seed \(seed): round \(round) gives up")
            return
          }
          now = now + pause
        }
      }
    }
  }

  @Test("a bank that was closed stays closed, however its coordinator ended", arguments: ends + [.code(0)])
  func closed(end: CoordinatorExit) {
    var policy = policy()
    policy.opened(at: start)
    policy.stopping()
    policy.closed()
    policy.stopping()
    #expect(policy.phase == .closed)
    #expect(policy.ended(end, at: start) == .end(.closed))
    #expect(GuardianOutcome.closed.exitCode == 0)
  }

  @Test("a coordinator that ends by itself without an error has closed the bank")
  func codeZero() {
    var policy = policy()
    #expect(policy.ended(.code(0), at: start) == .end(.closed))
  }

  @Test("a drain that is cut off opens the bank again")
  func cutOffDrain() {
    var policy = policy()
    policy.opened(at: start)
    policy.stopping()
    #expect(policy.ended(.signal(9), at: start) == .restart)
    #expect(policy.phase == .opening)
  }

  @Test("a bank whose database is gone is not reopened, because it would be another one", arguments: ends)
  func lost(end: CoordinatorExit) {
    var policy = policy()
    policy.opened(at: start)
    policy.lost()
    #expect(policy.ended(end, at: start) == .end(.givenUp(end)))
  }

  @Test("after a request to end no coordinator is started again", arguments: ends)
  func wish(end: CoordinatorExit) {
    var open = policy()
    open.opened(at: start)
    open.requestClose()
    #expect(open.ended(end, at: start) == .end(.diedWhileClosing(end)))
    var opening = policy()
    opening.requestClose()
    #expect(opening.ended(end, at: start) == .end(.neverOpened(end)))
  }

  @Test(
    "a guardian that takes over knows that the bank was open",
    arguments: [.open, .stopping] as [GuardianPolicy.Phase])
  func takenOver(phase: GuardianPolicy.Phase) {
    var policy = policy(phase)
    #expect(policy.hasOpened)
    #expect(policy.ended(.unknown, at: start) == .restart)
    var reopening = self.policy(.opening, hasOpened: true)
    guard case .restartAfter = reopening.ended(.unknown, at: start) else {
      Issue.record("it was not ready")
      return
    }
    var first = self.policy(.opening)
    #expect(first.ended(.unknown, at: start) == .end(.neverOpened(.unknown)))
  }
}

@Suite struct GuardianOptionsTests {
  @Test("the arguments after -- are the coordinator's, whatever they are")
  func words() throws {
    let options = try GuardianOptions(["--home", "/h", "--", "--home", "/h", "--adopt", "--", "x"])
    #expect(options.home == "/h")
    #expect(options.coordinator == nil)
    #expect(options.words == ["--home", "/h", "--adopt", "--", "x"])
  }

  @Test("a coordinator is taken over in the given phase")
  func adoption() throws {
    let options = try GuardianOptions([
      "--home", "/h", "--adopt", "42", "--phase", "stopping", "--opened", "--patience", "500", "--",
    ])
    #expect(
      options.coordinator
        == GuardianOptions.GuardedCoordinator(
          pid: 42, phase: .stopping, hasOpened: true, patienceMilliseconds: 500))
    #expect(options.words.isEmpty)
  }

  @Test(
    "invalid arguments are refused with a sentence",
    arguments: [
      [], ["--home"], ["--home", "relative"], ["--home", "/h", "--adopt", "0"],
      ["--home", "/h", "--adopt", "x"],
      ["--home", "/h", "--adopt", "1", "--patience", "0"], ["--home", "/h", "--phase", "late"],
      ["--home", "/h", "--unknown", "1"],
    ] as [[String]])
  func mistakes(words: [String]) {
    let mistake = #expect(throws: GuardianOptions.ArgumentError.self) { try GuardianOptions(words) }
    #expect(mistake?.sentence.isEmpty == false)
  }
}
