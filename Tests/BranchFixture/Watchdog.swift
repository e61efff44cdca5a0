// Owns the last bound of a test that drives a branch: whatever it waits for and however, it does not wait for ever.
// When the time is up it says which test that is and what is alive, and kills every process of the branch: a read, a write
// or a wait for one of them returns then. It knows no branch beyond the mark of its processes.
import Dispatch
import Glibc
import Synchronization
import Testing

public final class Watchdog: Sendable {
  private let branch: String
  private let test: String
  private let limit: Duration
  private let words = Mutex<String?>(nil)
  private let isOver = Mutex(false)

  /// - Parameters:
  ///   - branch: What marks the processes; see ``ProcessTable``.
  ///   - test: Which test it is, as a person looks for it.
  public init(_ branch: String, _ test: String, limit: Duration) {
    self.branch = branch
    self.test = test
    self.limit = limit
    let seconds = Double(limit / .milliseconds(1)) / 1_000
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.bark() }
  }

  /// The test has ended, and nobody of its branch is left.
  ///
  /// - Returns: What was said when the time was up; nil where it was not.
  public func end() -> String? {
    isOver.withLock { $0 = true }
    return words.withLock { $0 }
  }

  private func bark() {
    guard !isOver.withLock({ $0 }) else { return }
    let processes = ProcessTable(branch: branch)
    let alive = processes.all().map { "  \($0) \(processes.name($0))" }
    let story =
      "\(test) has not ended within \(limit), and waits for one of these:\n" + alive.joined(separator: "\n")
    words.withLock { $0 = story }
    // At once, because nobody knows whether the test gets so far as to say it.
    print(story)
    while !isOver.withLock({ $0 }) {
      for signal in [SIGSTOP, SIGKILL] {
        for pid in processes.all() { processes.signal(pid, signal) }
      }
      Moment.pass(milliseconds: 10)
    }
  }
}
