// Services beyond the built-in ones: the queue knows them by number, and learns of a new one with its
// windows.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueServicesTests {
  private static let thumbs = Service(number: 4)
  private static let last = Service(number: 1_003)

  private func order(_ service: Service, _ priority: Priority = .regular) -> CustomerOrder {
    CustomerOrder(service: service, priority: priority, amount: 0, account: 0)
  }

  @Test("a new service has windows and customers like any other")
  func new() throws {
    let branch = TestBranch()
    branch.open(Self.last)
    branch.open(.deposit)
    branch.arrive(order(Self.last), order(Self.thumbs), order(Self.last, .vip))
    let window = Window(service: Self.last, place: 1)
    #expect(branch.lease(at: window)?.ticket == 3)
    #expect(branch.lease(at: .deposit1) == nil)
    try branch.answer(window)
    #expect(branch.lease(at: window)?.ticket == 1)
    let numbers = branch.machine.numbers(of: Self.last)
    #expect(numbers.windows == 1 && numbers.served == 1 && numbers.serving == 1 && numbers.waiting == 0)
    #expect(branch.machine.numbers(of: Self.thumbs).waiting == 1)
    #expect(branch.machine.dayCounters.servedByService[Self.last.index] == 1)
  }

  @Test("a close does not wait for customers of a service without windows, and does not lose them")
  func takenOut() throws {
    let branch = TestBranch()
    branch.open(Self.thumbs)
    branch.process(.tellerLost(Window(service: Self.thumbs, place: 1), 1, .code(0)))
    branch.arrive(order(Self.thumbs), order(Self.thumbs))
    branch.process(.scale(Self.thumbs, windows: 0))
    #expect(branch.machine.numbers(of: Self.thumbs).windows == 0)
    #expect(branch.machine.numbers(of: Self.thumbs).waiting == 2)
    let hasWaiting = branch.machine.hasWaitingToServe
    #expect(!hasWaiting)
    #expect(branch.process(.drain).contains(.reportDrained))
    #expect(branch.machine.dayCounters.waitingInAll == 2)
  }

  @Test("each service has its own pause, and one that a full disk refuses is taken back")
  func paused() throws {
    let branch = TestBranch()
    branch.open(Self.thumbs)
    branch.process(.pause(branch.request(), Self.thumbs))
    #expect(
      branch.machine.numbers(of: Self.thumbs).isPaused && !branch.machine.numbers(of: .deposit).isPaused)
    branch.process(.commitRefused)
    #expect(!branch.machine.numbers(of: Self.thumbs).isPaused)
    branch.process(.committed)
    branch.process(.pause(branch.request(), nil))
    branch.process(.committed)
    let isPaused = branch.machine.isPaused
    #expect(isPaused)
    branch.process(.scale(Self.last, windows: 1))
    #expect(
      !branch.machine.numbers(of: Self.last).isPaused && branch.machine.numbers(of: Self.thumbs).isPaused)
  }
}
