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
    branch.happen(.roomChanged(isShort: true))
    #expect(branch.ask(.deposit).answers == [.refused(.diskFull)])
    #expect(branch.machine.books.issued == 2)
    #expect(try branch.answer(.deposit1).assigned == [2])
    #expect(try branch.answer(.deposit1).receipts.map(\.ticket) == [2])
    #expect(branch.happen(.committed).acknowledged.map(\.ticket) == [2])
    branch.happen(.roomChanged(isShort: false))
    #expect(branch.arrive(.deposit).assigned == [3])
  }

  @Test("while room is short the queue is not reset; single requests are carried out")
  func orders() {
    let branch = TestBranch()
    branch.arrive(.deposit, .deposit)
    branch.happen(.roomChanged(isShort: true))
    #expect(branch.happen(.reset(50)).answer(to: 50) == .refused(.diskFull))
    #expect(branch.machine.books.waitingInAll == 2)
    branch.happen(.cancel(51, 1))
    branch.happen(.pause(52, nil))
    let settled = branch.happen(.committed)
    #expect(settled.answer(to: 51) == .done && settled.answer(to: 52) == .done)
    #expect(branch.machine.books.cancelled == 1)
  }

  @Test("a pause refused by the disk is answered at once, and is as if never requested")
  func refusedPause() {
    let branch = TestBranch()
    branch.happen(.pause(60, .loan))
    branch.happen(.committed)
    branch.happen(.pause(61, .deposit))
    branch.happen(.resume(62, .loan))
    let refused = branch.happen(.commitRefused)
    #expect(refused.answer(to: 61) == .refused(.diskFull) && refused.answer(to: 62) == .refused(.diskFull))
    #expect(branch.machine.books.paused == [false, true, false])
    let settled = branch.happen(.committed)
    #expect(settled.answers == [], "an answer is sent once")
    branch.open(.deposit)
    #expect(branch.arrive(.deposit).assigned == [1])
  }
}
