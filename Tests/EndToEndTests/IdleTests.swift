// Cost of an open bank without customers: wake-ups of its processes.
import Foundation
import Testing

@Suite("Idle bank", .serialized)
struct IdleTests {
  /// Wake-ups of a process since its start. proc_pid_status(5)
  private func wakeUps(of pid: Int) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0
  }

  /// Highest number of wake-ups per second. Replies to one heartbeat wake a process once if they arrive together; on a
  /// machine with more work than processors they arrive one by one. proc_loadavg(5)
  private var bound: Double {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    let load = text.split(separator: " ").first.flatMap { Double($0) } ?? 0
    return load > Double(ProcessInfo.processInfo.activeProcessorCount) ? 2 : 1
  }

  @Test("all processes together wake at most once per second")
  func wakeUps() throws {
    try withScratchBank { branch in
      try branch.start()
      let pids = branch.processes.all()
      #expect(pids.count >= 7, "coordinator, guardian, stock, vending machine, three tellers, juice station")
      func count() -> Int { pids.map { wakeUps(of: $0) }.reduce(0, +) }
      var (begin, before) = (ContinuousClock.now, count())
      // The start is still in progress during the first spans.
      try branch.waitUntil("a span of ten seconds has few wake-ups", within: .seconds(20)) {
        guard begin.duration(to: .now) >= .seconds(10) else { return false }
        let took = begin.duration(to: .now)
        let after = count()
        let rate =
          Double(after - before)
          / (Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18)
        (begin, before) = (.now, after)
        return rate <= bound
      }
      #expect(pids == branch.processes.all(), "the processes stay the same")
    }
  }
}
