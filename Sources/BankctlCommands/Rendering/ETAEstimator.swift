// Rate of progress and estimate of the remaining time.
// Invariant: no estimate is made before enough data. The rate is that of the last third of the time, or of
// `shortestWindow` if that is longer. A displayed estimate follows newer ones slowly.
import Posix
import Time

/// Estimates the rate and the remaining time of a task from the numbers of its completed steps.
struct ETAEstimator {
  /// Number of completed steps at one time.
  private struct Sample {
    var at: MonotonicTime
    var done: Int64
  }

  private var samples: [Sample] = []
  /// The last estimated end, its total, and the time of the estimate.
  private var end: (at: MonotonicTime, total: Int64, saidAt: MonotonicTime)?

  /// Minimum time since the first count before a rate is returned.
  private static let silence = TimeSpan.seconds(1)
  /// Minimum progress for an estimate: share of the whole in per cent, and number of steps.
  private static let leastShare: Int64 = 2
  private static let leastSteps: Int64 = 3
  /// Minimum time over which the rate is measured. If a third of the elapsed time is longer, that third is
  /// used.
  private static let shortestWindow = TimeSpan.seconds(5)
  /// Time constant with which a displayed estimate follows newer ones.
  private static let inertia = TimeSpan.seconds(3)
  /// Maximum number of stored counts; more would not improve the estimate.
  private static let mostSamples = 256

  /// Adds the number of completed steps at this time; ignores one that has not changed.
  mutating func note(_ done: Int64, at now: MonotonicTime) {
    if let last = samples.last {
      // If the count decreases, measuring starts again.
      if done < last.done {
        samples.removeAll()
        end = nil
      } else if done == last.done {
        return
      }
    }
    samples.append(Sample(at: now, done: done))
    // Thin out the older half. The first and the newest counts stay exact.
    guard samples.count > Self.mostSamples else { return }
    let half = Self.mostSamples / 2
    samples = samples.indices.filter { $0 >= half || $0 % 2 == 0 }.map { samples[$0] }
  }

  /// Rate per second; nil before enough data.
  func rate(at now: MonotonicTime) -> Double? {
    guard let first = samples.first, let last = samples.last, now.since(first.at) >= Self.silence,
      last.done > first.done
    else { return nil }
    let window = max(Self.shortestWindow, now.since(first.at) / 3)
    let begin = samples.last { $0.done < last.done && now.since($0.at) >= window } ?? first
    // The divisor is the time until now, so the rate decreases while the count does not change.
    return Double(last.done - begin.done) / now.since(begin.at).inSeconds
  }

  /// Estimated time until the count reaches `total`, smoothed over calls; nil before enough progress.
  mutating func left(of total: Int64, at now: MonotonicTime) -> TimeSpan? {
    guard let first = samples.first, let last = samples.last, total > last.done, let rate = rate(at: now),
      last.done - first.done >= Self.leastSteps,
      (last.done - first.done) >= (total - first.done) / 100 * Self.leastShare
    else { return nil }
    // The estimate is clamped to a century, so that it fits in 64 bits.
    let fresh = TimeSpan.milliseconds(Int64(min(Double(total - last.done) / rate * 1000, 3.2e12)))
    var estimate = now + fresh
    if let end, end.total == total {
      let share = min(1, now.since(end.saidAt).inSeconds / Self.inertia.inSeconds)
      // The newest end may be earlier than the last one, so the difference is signed.
      let change = Double(estimate.nanoseconds - end.at.nanoseconds) * share
      estimate = MonotonicTime(nanoseconds: end.at.nanoseconds + Int64(change))
    }
    end = (estimate, total, now)
    return estimate.since(now)
  }
}
