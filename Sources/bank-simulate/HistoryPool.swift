// Threads that simulate: each takes the next seed until none is left or a promise is broken.
// Invariant: of several broken histories the one with the lowest seed is reported, so that two runs over the
// same seeds report the same one.
// Errors: a thread that cannot be started is left out.
import Glibc
import Simulator
import Synchronization

/// Counts of what happened in histories, which add up over several of them.
protocol HistoryCounts: Sendable {
  init()
  static func += (left: inout Self, right: Self)
  var histories: Int64 { get }
  var totalFaults: Int64 { get }
}

extension Statistics: HistoryCounts {}
extension BranchStatistics: HistoryCounts {}

/// A history in which a promise was broken.
struct FailedHistory: Sendable {
  var seed: UInt64
  var violation: Violation
}

/// Histories of consecutive seeds, or of those of a scenario, which several threads run.
final class HistoryPool<Counted: HistoryCounts>: Sendable {
  /// Runs the history of a seed; its violation is nil if no promise was broken.
  typealias HistoryRunner = @Sendable (_ seed: UInt64) -> (statistics: Counted, violation: Violation?)

  /// The next history, counted from 0, the counts so far, and the broken history with the lowest seed.
  struct Progress: Sendable {
    var next: UInt64
    /// The next seed that was not looked at.
    var seed: UInt64
    var statistics = Counted()
    var failed: FailedHistory?
  }

  private let progress: Mutex<Progress>
  let count: UInt64

  /// Prepares this number of histories, with the seeds from `from` on; after the largest seed they continue at 0.
  ///
  /// - Parameter scenario: a scenario, whose seeds are taken; nil for all seeds.
  init(from: UInt64, count: UInt64, scenario: Scenario? = nil, _ runHistory: @escaping HistoryRunner) {
    progress = Mutex(Progress(next: 0, seed: from))
    (self.count, self.scenario, self.runHistory) = (count, scenario, runHistory)
  }

  private let scenario: Scenario?
  private let runHistory: HistoryRunner
  var current: Progress { progress.withLock { $0 } }

  /// Simulates with `jobs` threads, and returns when all is done. Calls `report` on this thread, after each history
  /// that this thread has run.
  func run(jobs: Int, report: (Progress) -> Void) -> Progress {
    var threads: [pthread_t] = []
    for _ in 1..<max(jobs, 1) {
      var thread = pthread_t()
      let pool = Unmanaged.passRetained(ErasedPool { [self] in simulateNext() })
      let code = pthread_create(
        &thread, nil,
        { pool in
          let pool = Unmanaged<ErasedPool>.fromOpaque(pool!).takeRetainedValue()
          while pool.simulateNext() {}
          return nil
        }, pool.toOpaque())
      if code == 0 { threads.append(thread) } else { pool.release() }
    }
    while simulateNext() { report(current) }
    for thread in threads { pthread_join(thread, nil) }
    return current
  }

  /// Runs the next history. Returns false, without a run, if none is left or an earlier one broke a promise.
  private func simulateNext() -> Bool {
    let seed: UInt64? = progress.withLock { progress in
      guard progress.next < count, progress.failed == nil else { return nil }
      progress.next += 1
      let seed = scenario?.seed(from: progress.seed) ?? progress.seed
      progress.seed = seed &+ 1
      return seed
    }
    guard let seed else { return false }
    let outcome = runHistory(seed)
    progress.withLock { progress in
      progress.statistics += outcome.statistics
      guard let violation = outcome.violation else { return }
      if let failed = progress.failed, failed.seed <= seed { return }
      progress.failed = FailedHistory(seed: seed, violation: violation)
    }
    return true
  }
}

/// The argument of a thread: the pool's `simulateNext` without the generic type, which a C function cannot have.
private final class ErasedPool: Sendable {
  let simulateNext: @Sendable () -> Bool
  init(_ simulateNext: @escaping @Sendable () -> Bool) { self.simulateNext = simulateNext }
}
