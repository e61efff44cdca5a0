// Cost of very many waiting customers: the coordinator's memory while they wait and while they are served, and the
// duration of a start with all of them in the database.
import Posix
import Time

extension Bench {
  /// Measures the coordinator's memory, and the time of a start, while very many customers wait.
  func measureLargeQueue() throws {
    let home = newHome()
    var bank = try BenchBank(self, home: home)
    try bank.ask(.pause(nil))
    try bank.enqueue(scale.waiting)
    let crowd = NumberFormat.grouped(scale.waiting)
    addMemory("coordinator's RSS after taking in \(crowd)", ProcessMemory.residentBytes(pid: bank.pid))
    try bank.stop()

    let starts = try rounds {
      let time = try command(["start", "--speed", "max"], at: home)
      _ = try command(["stop", "--now"], at: home)
      return time.inSeconds
    }
    add("crowd", "bankctl start with \(crowd) waiting", "s", starts, target: .below(0.5))

    bank = try BenchBank(self, home: home)
    addMemory("coordinator's RSS with \(crowd) waiting", ProcessMemory.residentBytes(pid: bank.pid))
    try bank.ask(.resume(nil))
    // Reads the memory repeatedly while the bank serves.
    var maximum: Int64 = 0
    let end = SystemClock.monotonic() + scale.span
    while SystemClock.monotonic() < end {
      guard try bank.status().queue.waiting > 0 else { break }
      maximum = max(maximum, ProcessMemory.residentBytes(pid: bank.pid) ?? 0)
    }
    addMemory("coordinator's RSS while they are served", maximum)
    try bank.ask(.pause(nil))
    try bank.discard()
  }

  /// Adds a size of memory to the report.
  private func addMemory(_ name: String, _ bytes: Int64?) {
    guard let bytes else { return }
    add("crowd", name, "MB", Samples(Double(bytes) / 1e6), target: .below(64))
  }
}
