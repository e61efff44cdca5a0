// The wait for more changes in one commit, with made-up times.

import Testing
import Time

@testable import ServiceProcess

@Suite("The wait for more to commit")
struct GroupCommitTests {
  @Test("a commit waits for clients answered before, and no longer than a quarter of a commit")
  func gathering() {
    func at(_ microseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: microseconds * 1_000) }
    var gathering = GroupCommit()
    #expect(gathering.due(1, since: at(7)) == at(7))
    for round in 1...40 as ClosedRange<Int64> {
      gathering.committed(64, from: at(round * 1_000), to: at(round * 1_000 + 400))
    }
    let end: Int64 = 40_400
    let pause = gathering.due(8, since: at(end)).since(at(end))
    #expect(pause > TimeSpan(nanoseconds: 95_000) && pause <= TimeSpan(nanoseconds: 100_000))
    #expect(gathering.due(64, since: at(end)) == at(end))
    #expect(gathering.due(8, since: at(end + 401)) == at(end + 401))
    for round in 1...40 as ClosedRange<Int64> {
      gathering.committed(2, from: at(round * 100_000), to: at(round * 100_000 + 50_000))
    }
    #expect(gathering.due(1, since: at(4_050_000)) == at(4_052_000))
    #expect(gathering.due(2, since: at(4_050_000)) == at(4_050_000))
  }
}
