// Cost of an open bank without customers: memory and wakeups of its processes. No request is sent to the bank
// while the wakeups are counted.
import ControlClient
import Posix
import Time
import Wire

extension Bench {
  /// Measures memory and wakeups of an idle bank.
  func measureIdle() throws {
    let home = newHome()
    // The bank is started with the command, as users start it, so that all its processes are counted.
    _ = try command(["start"], at: home)
    let status = try self.status(at: home)
    let tellers = status.workers.compactMap { ProcessMemory.proportionalBytes(pid: $0.pid) }
    guard !tellers.isEmpty else { throw BenchFailure("the bank at \(home.path) has no tellers") }
    add(
      "idle", "memory of an idle teller (PSS)", "MB", Samples(tellers.map { Double($0) / 1e6 }),
      target: .below(3))
    if let bytes = ProcessMemory.proportionalBytes(pid: status.pid) {
      add("idle", "memory of an idle coordinator (PSS)", "MB", Samples(Double(bytes) / 1e6))
    }
    let processes = ProcessFacts.processes(of: home.path, coordinator: status.pid)
    // A client has just disconnected. The pause lets the coordinator finish the work for this connection.
    try rest(.seconds(3))
    let wakes = try rounds {
      let before = processes.map { ProcessFacts.voluntarySwitches(of: $0) }.reduce(0, +)
      try rest(.seconds(5))
      let after = processes.map { ProcessFacts.voluntarySwitches(of: $0) }.reduce(0, +)
      return Double(after - before) / 5
    }
    add("idle", "wake-ups a second, \(processes.count) processes together", "/s", wakes, target: .below(1))
    _ = try command(["stop"], at: home)
    Directory.removeTree(home.path)
  }

  /// Waits without using the processor.
  func rest(_ span: TimeSpan) throws {
    let loop = try EventLoop()
    let end = SystemClock.monotonic() + span
    while SystemClock.monotonic() < end { try loop.runOnce(until: end) }
  }

  /// Queries the status of the bank at a home.
  private func status(at home: BankHome) throws -> StatusReport {
    let connection = try home.connect()
    guard case .status(let report) = try BenchBank.ask(.status, on: connection) else {
      throw BenchFailure("no status was sent")
    }
    return report
  }
}
