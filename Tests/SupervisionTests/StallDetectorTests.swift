// The judgement that a silent process is stuck, without a process and without a clock.

import Supervision
import Testing
import Time

@Suite struct StallDetectorTests {
  private func moment(_ seconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test("one that reports progress is not examined; a stopped one has its patience and no more")
  func stopped() {
    var stallDetector = StallDetector(patience: .seconds(10), at: moment(0))
    for second in stride(from: Int64(3), through: 300, by: 3) {
      stallDetector.heard(at: moment(second))
      #expect(stallDetector.nextCheckAt == moment(second + 10))
    }
    #expect(stallDetector.isHung(.stopped, at: moment(310)) == true)
  }

  @Test("one that sleeps silently, and does nothing, is stuck after six times its patience")
  func asleep() {
    var stallDetector = StallDetector(patience: .seconds(10), at: moment(0))
    for look in 1...5 {
      #expect(stallDetector.isHung(.asleep(processorTicks: 7), at: moment(Int64(look) * 10)) == false)
    }
    #expect(stallDetector.isHung(.asleep(processorTicks: 7), at: moment(60)) == true)
  }

  @Test(
    "activity restarts the patience, and a silent running one has thirty times the normal patience"
  )
  func busy() {
    var stallDetector = StallDetector(patience: .seconds(10), at: moment(0))
    for look in 1...29 {
      let observation: StallDetector.Observation =
        look.isMultiple(of: 4)
        ? .running(processorTicks: UInt64(look)) : .asleep(processorTicks: UInt64(look / 4))
      #expect(stallDetector.isHung(observation, at: moment(Int64(look) * 10)) == false, "look \(look)")
    }
    #expect(stallDetector.isHung(.running(processorTicks: 99), at: moment(300)) == true)
    stallDetector.heard(at: moment(301))
    #expect(stallDetector.isHung(.running(processorTicks: 100), at: moment(311)) == false)
  }

  @Test("one that waits for a disk, or is held by a debugger, is never ended")
  func exempt() {
    var stallDetector = StallDetector(patience: .seconds(10), at: moment(0))
    for look in 1...1_000 { #expect(stallDetector.isHung(.excused, at: moment(Int64(look) * 10)) == false) }
    #expect(stallDetector.isHung(.asleep(processorTicks: 1), at: moment(10_001)) == false)
  }

  @Test("a process defines how long it may be silent")
  func patience() {
    var stallDetector = StallDetector(at: moment(0))
    #expect(stallDetector.nextCheckAt == MonotonicTime(nanoseconds: 0) + StallDetector.patience)
    stallDetector.heard(at: moment(1), patience: .seconds(100))
    #expect(stallDetector.nextCheckAt == moment(101))
    stallDetector.heard(at: moment(2))
    #expect(stallDetector.nextCheckAt == moment(102))
  }
}
