// Upper time limit of a test that drives a branch. When the time is up the watchdog prints the test and the running
// processes and kills the processes of the branch, so that a blocked read, write or wait returns.
import Dispatch
import Glibc
import Synchronization
import Testing

public final class Watchdog: Sendable {
  private let branch: String
  private let test: String
  private let limit: Duration
  private let output = Mutex<String?>(nil)
  private let isOver = Mutex(false)

  /// - Parameters:
  ///   - branch: Mark of the processes; see ``ProcessTable``.
  ///   - test: Name of the test, as a developer searches for it.
  public init(_ branch: String, _ test: String, limit: Duration) {
    self.branch = branch
    self.test = test
    self.limit = limit
    let seconds = Double(limit / .milliseconds(1)) / 1_000
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.reportTimeout() }
  }

  /// Ends the watch. The test has ended, and no process of its branch is left.
  ///
  /// - Returns: The message printed when the time was up; nil if it was not.
  public func end() -> String? {
    isOver.withLock { $0 = true }
    return output.withLock { $0 }
  }

  private func reportTimeout() {
    guard !isOver.withLock({ $0 }) else { return }
    let processes = ProcessTable(branch: branch)
    let alive = processes.all().map { "  \($0) \(processes.name($0))" }
    let story =
      "\(test) has not ended within \(limit), and waits for one of these:\n" + alive.joined(separator: "\n")
    output.withLock { $0 = story }
    // Printed at once, because the test may never get as far as reporting it.
    print(story)
    while !isOver.withLock({ $0 }) {
      for signal in [SIGSTOP, SIGKILL] {
        for pid in processes.all() { processes.signal(pid, signal) }
      }
      Polling.pause(milliseconds: 10)
    }
  }
}
