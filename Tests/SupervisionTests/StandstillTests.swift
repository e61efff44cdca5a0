// The judgement that a silent process is stuck, without a process and without a clock.

import Supervision
import Testing
import Time

@Suite struct StandstillTests {
  private func moment(_ seconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  @Test("one that reports progress is not examined; a stopped one has its patience and no more")
  func stopped() {
    var silence = Standstill(patience: .seconds(10), at: moment(0))
    for second in stride(from: Int64(3), through: 300, by: 3) {
      silence.heard(at: moment(second))
      #expect(silence.lookAt == moment(second + 10))
    }
    #expect(silence.seen(.stopped, at: moment(310)) == true)
  }

  @Test("one that sleeps silently, and does nothing, is stuck after six times its patience")
  func asleep() {
    var silence = Standstill(patience: .seconds(10), at: moment(0))
    for look in 1...5 {
      #expect(silence.seen(.asleep(processorTicks: 7), at: moment(Int64(look) * 10)) == false)
    }
    #expect(silence.seen(.asleep(processorTicks: 7), at: moment(60)) == true)
  }

  @Test(
    "activity restarts the patience, and a silent running one has thirty times the normal patience"
  )
  func busy() {
    var silence = Standstill(patience: .seconds(10), at: moment(0))
    for look in 1...29 {
      let sight: Standstill.Sight =
        look.isMultiple(of: 4)
        ? .running(processorTicks: UInt64(look)) : .asleep(processorTicks: UInt64(look / 4))
      #expect(silence.seen(sight, at: moment(Int64(look) * 10)) == false, "look \(look)")
    }
    #expect(silence.seen(.running(processorTicks: 99), at: moment(300)) == true)
    silence.heard(at: moment(301))
    #expect(silence.seen(.running(processorTicks: 100), at: moment(311)) == false)
  }

  @Test("one that waits for a disk, or is held by a debugger, is never ended")
  func excused() {
    var silence = Standstill(patience: .seconds(10), at: moment(0))
    for look in 1...1_000 { #expect(silence.seen(.excused, at: moment(Int64(look) * 10)) == false) }
    #expect(silence.seen(.asleep(processorTicks: 1), at: moment(10_001)) == false)
  }

  @Test("a process defines how long it may be silent")
  func patience() {
    var silence = Standstill(at: moment(0))
    #expect(silence.lookAt == MonotonicTime(nanoseconds: 0) + Standstill.patience)
    silence.heard(at: moment(1), patience: .seconds(100))
    #expect(silence.lookAt == moment(101))
    silence.heard(at: moment(2))
    #expect(silence.lookAt == moment(102))
  }
}
