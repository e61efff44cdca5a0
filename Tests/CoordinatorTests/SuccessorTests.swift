// What becomes of the next process at a post when somebody has told the one before it to go, which had ended already: its
// end was not settled, because its channel was still open.

import BankModel
import Logbook
import Posix
import Supervision
import Testing

@testable import Coordinator

@Suite("The successor of a process that has ended")
struct SuccessorTests {
  @Test("is not ended for what its predecessor was told after its end")
  func service() throws {
    let loop = try EventLoop()
    let log = try LogFile(path: "/dev/null", worker: "coordinator", generation: 1, limit: 0, keep: 0)
    let staff = HouseStaff(loop: loop, log: log, policy: RestartPolicy(), seed: 1)
    let until = SystemClock.monotonic() + .seconds(60)
    func run(while isToGoOn: () -> Bool) throws {
      while isToGoOn(), SystemClock.monotonic() < until {
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(20))
        staff.keepTime(loop.moment())
      }
    }
    // Whoever it has started holds its channel for longer than it lives itself.
    staff.open(
      HousePost.Trade(
        name: "stock", peerRole: .stock, workerRole: .stock, program: "/bin/sh",
        arguments: ["-c", "sleep 0.5 & exit 0"]),
      at: loop.moment())
    let post = staff.posts[0]
    while post.exitStatus == nil, SystemClock.monotonic() < until { try loop.runOnce(until: until) }
    try #require(post.exitStatus != nil && post.generation == 1)
    staff.replace(post, at: loop.moment())
    try run { post.generation == 1 }
    #expect(post.generation == 2 && post.killAt == nil)
    staff.closeAll(at: loop.moment())
    staff.killAll()
    try run { staff.count > 0 }
    #expect(staff.count == 0)
  }
}
