// Pauses of services, and opening, closing and replacement of windows.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueWindowsTests {
  @Test("a paused service assigns no customer and finishes those being served; other services go unchanged")
  func pauseOne() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.open(.loan)
    branch.arrive(.deposit, .deposit, .loan, .loan)
    let paused = branch.process(.pause(9, .deposit))
    #expect(paused.answers == [])
    #expect(branch.process(.committed).answer(to: 9) == .done)
    #expect(try branch.answer(.deposit1).assigned == [])
    #expect(try branch.answer(.loan1).assigned == [4])
    #expect(!branch.isPaused)
    #expect(branch.machine.numbers(of: .deposit).isPaused)
    #expect(branch.process(.resume(10, .deposit)).assigned == [2])
  }

  @Test("without a service every service is paused, and resumed")
  func pauseAll() {
    let branch = TestBranch()
    branch.process(.pause(9, nil))
    #expect(branch.isPaused)
    branch.open(.deposit)
    branch.open(.loan)
    #expect(branch.arrive(.deposit, .loan).assigned == [])
    #expect(branch.process(.resume(10, nil)).assigned == [1, 2])
  }

  @Test("a pause holds over a restart, from the stored counters alone")
  func pauseOverRestart() {
    let branch = TestBranch()
    branch.process(.pause(9, .loan))
    branch.process(.committed)
    let next = TestBranch(dayCounters: branch.machine.dayCounters)
    next.open(.loan)
    #expect(next.arrive(.loan).assigned == [])
    #expect(next.machine.numbers(of: .loan).isPaused)
    #expect(next.process(.resume(10, .loan)).assigned == [1])
  }

  @Test("more windows are opened at the following places")
  func scaleUp() {
    let branch = TestBranch()
    #expect(branch.process(.scale(.deposit, windows: 2)) == [.openWindow(.deposit1), .openWindow(.deposit2)])
    let third = Window(service: .deposit, place: 3)
    #expect(branch.process(.scale(.deposit, windows: 3)) == [.openWindow(third)])
    #expect(branch.process(.scale(.deposit, windows: 3)) == [])
    #expect(branch.machine.numbers(of: .deposit).windows == 3)
    #expect(branch.machine.numbers(of: .loan).windows == 0)
  }

  @Test("an idle teller whose window is closed leaves at once; the highest place first")
  func scaleDownIdle() {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    #expect(
      branch.process(.scale(.deposit, windows: 1)) == [.closeWindow(.deposit2), .dismissTeller(.deposit2)])
    #expect(branch.machine.numbers(of: .deposit).windows == 1)
    #expect(branch.arrive(.deposit, .deposit).assigned == [1])
    branch.process(.tellerLost(.deposit2, 1, .code(0)))
    #expect(branch.machine.numbers(of: .deposit2) == nil)
  }

  @Test("a closing window finishes its customer first, and gets no other")
  func scaleDownServing() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    #expect(branch.process(.scale(.deposit, windows: 0)) == [.closeWindow(.deposit1)])
    let done = try branch.answer(.deposit1)
    #expect(done.receipts.map(\.ticket) == [1])
    #expect(done.dismissed == [.deposit1])
    #expect(done.assigned == [])
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [1])
    branch.process(.tellerLost(.deposit1, 1, .code(0)))
    #expect(branch.machine.numbers(of: .deposit1) == nil)
    #expect(branch.tickets(.deposit) == [2])
  }

  @Test("a teller that becomes ready at a closing window is dismissed again")
  func readyAtClosingWindow() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.process(.scale(.deposit, windows: 1))
    branch.process(.scale(.deposit, windows: 0))
    let ready = branch.ready(.deposit1)
    #expect(ready.dismissed == [.deposit1])
    #expect(ready.assigned == [])
  }

  @Test("a window reopened while it closes keeps its teller and its customer")
  func reopenWhileClosing() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.process(.scale(.deposit, windows: 0))
    #expect(branch.process(.scale(.deposit, windows: 1)) == [.openWindow(.deposit1)])
    let done = try branch.answer(.deposit1)
    #expect(done.dismissed == [])
    #expect(done.assigned == [2])
  }

  @Test("a window reopened after its teller was dismissed gets a successor")
  func reopenAfterDismissal() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.scale(.deposit, windows: 0))
    branch.process(.scale(.deposit, windows: 1))
    #expect(branch.arrive(.deposit).assigned == [])
    branch.process(.tellerLost(.deposit1, 1, .code(0)))
    #expect(branch.ready(.deposit1, generation: 2).assigned == [1])
  }

  @Test("an idle teller that is replaced leaves at once, and its successor stays")
  func replaceIdle() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    #expect(branch.process(.replace(.deposit1)) == [.dismissTeller(.deposit1)])
    #expect(branch.process(.replace(.deposit1)) == [])
    #expect(branch.arrive(.deposit, .deposit).assigned == [])
    branch.process(.tellerLost(.deposit1, 1, .code(0)))
    #expect(branch.ready(.deposit1, generation: 2).assigned == [1])
    #expect(try branch.answer(.deposit1).assigned == [2])
  }

  @Test("a teller that is replaced finishes its customer first")
  func replaceServing() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    #expect(branch.process(.replace(.deposit1)) == [])
    let done = try branch.answer(.deposit1)
    #expect(done.receipts.map(\.ticket) == [1])
    #expect(done.dismissed == [.deposit1])
    #expect(done.assigned == [])
    branch.process(.tellerLost(.deposit1, 1, .code(0)))
    #expect(branch.ready(.deposit1, generation: 2).assigned == [2])
  }

  @Test("without a teller there is none to replace")
  func replaceNone() {
    let branch = TestBranch()
    #expect(branch.process(.replace(.deposit1)) == [])
    branch.process(.scale(.deposit, windows: 1))
    #expect(branch.process(.replace(.deposit1)) == [])
    #expect(branch.ready(.deposit1).dismissed == [])
  }

  @Test("a new policy applies from the next customer on, and the size of the memory stays")
  func adopt() {
    let branch = TestBranch()
    branch.open(.deposit)
    var policy = QueuePolicy()
    policy.lease = .seconds(1)
    policy.maxWaiting = 1
    policy.lineCapacity = 9
    branch.adopt(policy)
    branch.arrive(.deposit)
    #expect(branch.machine.policy.lineCapacity == QueuePolicy().lineCapacity)
    #expect(branch.ask(.deposit).answers == [.refused(.queueFull(waiting: 1, limit: 1))])
    #expect(branch.pass(.seconds(1)).stuck == [.deposit1])
  }
}
