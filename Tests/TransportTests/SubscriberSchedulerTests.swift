// The time of subscribers, by a clock that runs only while a subscriber is served.

import Posix
import Testing
import Time
import Transport

@Suite("The time of subscribers") struct SubscriberSchedulerTests {
  private final class Viewer {
    var told = 0
  }

  /// A clock, and an audience that uses it.
  private final class SubscriptionFixture {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) lazy var audience = SubscriberScheduler<Viewer>(clock: { [unowned self] in now })

    /// Serves all subscribers that can be served, each piece for this long.
    @discardableResult
    func notify(piece: TimeSpan, _ step: (Viewer) -> SubscriberScheduler<Viewer>.Step = { _ in .sent })
      -> Bool
    {
      var pieces = 0
      return audience.notify(at: now) { viewer in
        pieces += 1
        // Without a bound of their own they would be served for ever.
        let step = pieces < 1_000 ? step(viewer) : .isCurrent
        if step == .sent {
          viewer.told += 1
          now = now + piece
        }
        return step
      }
    }
  }

  @Test("they have one turn, and then a rest of seven times the time in which they were served")
  func rest() {
    let hall = SubscriptionFixture()
    for _ in 0..<250 { hall.audience.admit(Viewer()) }
    hall.audience.markPending()
    // Longer than a turn if a single piece is.
    for (piece, took) in [(TimeSpan.microseconds(300), Int64(1_200)), (.microseconds(5_000), 5_000)] {
      let begin = hall.now
      #expect(hall.notify(piece: piece))
      #expect(hall.now.since(begin) == .microseconds(took))
      #expect(hall.audience.due.since(hall.now) == .microseconds(took * PublishingPeriods.rest))
      #expect(hall.audience.hasPending && hall.audience.nextDeadline == hall.audience.due)
      hall.now = MonotonicTime(nanoseconds: hall.audience.due.nanoseconds - 1)
      #expect(!hall.notify(piece: piece), "the rest is not over")
      hall.now = hall.audience.due
    }
    #expect(PublishingPeriods.rest >= 7, "other work has seven eighths of the time")
  }

  @Test("each subscriber gets a piece in turn, over as many turns as it takes")
  func inTurn() {
    let hall = SubscriptionFixture()
    let viewers = (0..<250).map { _ in Viewer() }
    for viewer in viewers { hall.audience.admit(viewer) }
    hall.audience.markPending()
    for _ in 1...500 {
      hall.notify(piece: .microseconds(300))
      hall.now = hall.audience.due
      let told = viewers.map(\.told)
      #expect((told.max() ?? 0) - (told.min() ?? 0) <= 1)
    }
    #expect(viewers.allSatisfy { $0.told == 8 })
  }

  @Test("if no subscriber reads, only the loop is waited for, until there is news")
  func noReader() {
    let hall = SubscriptionFixture()
    hall.audience.admit(Viewer())
    #expect(!hall.notify(piece: .zero), "none has news")
    hall.audience.markPending()
    hall.notify(piece: .zero) { _ in .blocked }
    #expect(hall.audience.hasPending && hall.audience.allBlocked && hall.audience.nextDeadline == nil)
    hall.audience.markPending()
    #expect(hall.audience.nextDeadline != nil)
    hall.notify(piece: .zero) { _ in .isCurrent }
    #expect(!hall.audience.hasPending && hall.audience.nextDeadline == nil)
  }
}
