// When a large request rests: the decision alone, with moments that the test names.

import Testing
import Time

@testable import Coordinator

@Suite("How a large request shares the coordinator")
struct IntakePacingTests {
  private func moment(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
  }

  @Test("it rests for twice as long as it has worked beside others, and not where it is alone")
  func rest() {
    var pacing = IntakePacing()
    pacing.begin(at: moment(100))
    pacing.begin(at: moment(103))
    #expect(pacing.isShared(serving: 1) && !pacing.isShared(serving: 0))
    pacing.end(at: moment(110), serving: 1)
    #expect(pacing.restsUntil == moment(130) && pacing.began == nil)
    #expect(!pacing.isDue(at: moment(129)) && pacing.isDue(at: moment(130)))
    pacing.begin(at: moment(130))
    pacing.end(at: moment(140), serving: 0)
    #expect(pacing.restsUntil == nil && pacing.isDue(at: moment(140)))
  }

  @Test("whoever came in beside it counts for one turn, and a turn that nobody noticed for nothing")
  func beside() {
    var pacing = IntakePacing()
    pacing.someoneCame()
    #expect(!pacing.isShared(serving: 1), "nobody of a large request was taken in")
    pacing.begin(at: moment(0))
    pacing.end(at: moment(4), serving: 0)
    #expect(pacing.restsUntil == moment(12))
    pacing.begin(at: moment(12))
    #expect(!pacing.isShared(serving: 0))
    pacing.someoneCame()
    pacing.end(at: MonotonicTime(nanoseconds: moment(13).nanoseconds - 1), serving: 0)
    #expect(pacing.restsUntil == nil)
  }

  @Test("a turn in which nothing could be done does not count")
  func failed() {
    var pacing = IntakePacing()
    pacing.begin(at: moment(0))
    pacing.rest(until: moment(1_000))
    pacing.end(at: moment(5), serving: 1)
    #expect(pacing.restsUntil == moment(1_000))
  }
}
