// The time of subscribers, by a clock that runs only while a subscriber is served.

import Posix
import Testing
import Time
import Transport

@Suite("The time of subscribers") struct AudienceTests {
  private final class Viewer {
    var told = 0
  }

  /// A clock, and an audience that uses it.
  private final class Hall {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) lazy var audience = Audience<Viewer>(clock: { [unowned self] in now })

    /// Serves all subscribers that can be served, each piece for this long.
    @discardableResult
    func tell(piece: TimeSpan, _ step: (Viewer) -> Audience<Viewer>.Step = { _ in .wasTold }) -> Bool {
      var pieces = 0
      return audience.tell(at: now) { viewer in
        pieces += 1
        // Without a bound of their own they would be served for ever.
        let step = pieces < 1_000 ? step(viewer) : .isCurrent
        if step == .wasTold {
          viewer.told += 1
          now = now + piece
        }
        return step
      }
    }
  }

  @Test("they have one turn, and then a rest of seven times the time in which they were served")
  func rest() {
    let hall = Hall()
    for _ in 0..<250 { hall.audience.admit(Viewer()) }
    hall.audience.hasNews()
    // Longer than a turn if a single piece is.
    for (piece, took) in [(TimeSpan.microseconds(300), Int64(1_200)), (.microseconds(5_000), 5_000)] {
      let begin = hall.now
      #expect(hall.tell(piece: piece))
      #expect(hall.now.since(begin) == .microseconds(took))
      #expect(hall.audience.due.since(hall.now) == .microseconds(took * ViewingTime.rest))
      #expect(hall.audience.isOwed && hall.audience.nextDeadline == hall.audience.due)
      hall.now = MonotonicTime(nanoseconds: hall.audience.due.nanoseconds - 1)
      #expect(!hall.tell(piece: piece), "the rest is not over")
      hall.now = hall.audience.due
    }
    #expect(ViewingTime.rest >= 7, "other work has seven eighths of the time")
  }

  @Test("each subscriber gets a piece in turn, over as many turns as it takes")
  func inTurn() {
    let hall = Hall()
    let viewers = (0..<250).map { _ in Viewer() }
    for viewer in viewers { hall.audience.admit(viewer) }
    hall.audience.hasNews()
    for _ in 1...500 {
      hall.tell(piece: .microseconds(300))
      hall.now = hall.audience.due
      let told = viewers.map(\.told)
      #expect((told.max() ?? 0) - (told.min() ?? 0) <= 1)
    }
    #expect(viewers.allSatisfy { $0.told == 8 })
  }

  @Test("if no subscriber reads, only the loop is waited for, until there is news")
  func nobodyReads() {
    let hall = Hall()
    hall.audience.admit(Viewer())
    #expect(!hall.tell(piece: .zero), "none has news")
    hall.audience.hasNews()
    hall.tell(piece: .zero) { _ in .waits }
    #expect(hall.audience.isOwed && hall.audience.waitsForReaders && hall.audience.nextDeadline == nil)
    hall.audience.hasNews()
    #expect(hall.audience.nextDeadline != nil)
    hall.tell(piece: .zero) { _ in .isCurrent }
    #expect(!hall.audience.isOwed && hall.audience.nextDeadline == nil)
  }
}
