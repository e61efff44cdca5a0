// The rests of a large request: the decision alone, with times that the test names.

import Testing
import Time

@testable import Coordinator

@Suite("How a large request shares the coordinator")
struct EnqueuePacingTests {
  private func moment(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
  }

  @Test("it rests twice as long as it has worked beside other clients, and not if it is alone")
  func rest() {
    var pacing = EnqueuePacing()
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

  @Test("a newcomer beside it counts for one iteration, and one too short to measure not at all")
  func beside() {
    var pacing = EnqueuePacing()
    pacing.recordConcurrentAdmission()
    #expect(!pacing.isShared(serving: 1), "no customer of a large request was accepted")
    pacing.begin(at: moment(0))
    pacing.end(at: moment(4), serving: 0)
    #expect(pacing.restsUntil == moment(12))
    pacing.begin(at: moment(12))
    #expect(!pacing.isShared(serving: 0))
    pacing.recordConcurrentAdmission()
    pacing.end(at: MonotonicTime(nanoseconds: moment(13).nanoseconds - 1), serving: 0)
    #expect(pacing.restsUntil == nil)
  }

  @Test("an iteration in which nothing could be done does not count")
  func failed() {
    var pacing = EnqueuePacing()
    pacing.begin(at: moment(0))
    pacing.rest(until: moment(1_000))
    pacing.end(at: moment(5), serving: 1)
    #expect(pacing.restsUntil == moment(1_000))
  }
}
