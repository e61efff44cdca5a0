// A disk that is nearly full, or full: which requests are refused, what continues, and the state after a
// refused pause.

import BankModel
import QueueCore
import Testing

@Suite struct QueueShortageTests {
  @Test("while room is short no customer is accepted, and all present ones are served")
  func shortage() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.process(.roomChanged(isLowOnSpace: true))
    #expect(branch.ask(.deposit).answers == [.refused(.diskFull)])
    #expect(branch.machine.dayCounters.issued == 2)
    #expect(try branch.answer(.deposit1).assigned == [2])
    #expect(try branch.answer(.deposit1).receipts.map(\.ticket) == [2])
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [2])
    branch.process(.roomChanged(isLowOnSpace: false))
    #expect(branch.arrive(.deposit).assigned == [3])
  }

  @Test("while room is short the queue is not reset; single requests are carried out")
  func orders() {
    let branch = TestBranch()
    branch.arrive(.deposit, .deposit)
    branch.process(.roomChanged(isLowOnSpace: true))
    #expect(branch.process(.reset(50)).answer(to: 50) == .refused(.diskFull))
    #expect(branch.machine.dayCounters.waitingInAll == 2)
    branch.process(.cancel(51, 1))
    branch.process(.pause(52, nil))
    let settled = branch.process(.committed)
    #expect(settled.answer(to: 51) == .done && settled.answer(to: 52) == .done)
    #expect(branch.machine.dayCounters.cancelled == 1)
  }

  @Test("a pause refused by the disk is answered at once, and is as if never requested")
  func refusedPause() {
    let branch = TestBranch()
    branch.process(.pause(60, .loan))
    branch.process(.committed)
    branch.process(.pause(61, .deposit))
    branch.process(.resume(62, .loan))
    let refused = branch.process(.commitRefused)
    #expect(refused.answer(to: 61) == .refused(.diskFull) && refused.answer(to: 62) == .refused(.diskFull))
    #expect(branch.machine.dayCounters.paused == [false, true, false])
    let settled = branch.process(.committed)
    #expect(settled.answers == [], "an answer is sent once")
    branch.open(.deposit)
    #expect(branch.arrive(.deposit).assigned == [1])
  }
}
