// Owns how fast something progresses and how long the rest may take, as it is worth telling.
// Invariant: nothing is said before enough has been seen, and what is said moves slowly: the pace is that of the last
// third of the time, and a span that was told is only corrected by a part of what the newest count would change in it.
import Posix
import Time

struct PaceEstimate {
  private struct Sample {
    var at: MonotonicTime
    var done: Int64
  }

  private var samples: [Sample] = []
  /// The moment of the end that was estimated last, with the total that it was for.
  private var end: (at: MonotonicTime, total: Int64, saidAt: MonotonicTime)?

  private static let silence = TimeSpan.seconds(1)
  /// Of the whole, in per cent, and in number: so much must have been done meanwhile.
  private static let leastShare: Int64 = 2
  private static let leastSteps: Int64 = 3
  /// The time over which the pace is measured is never shorter than this, and otherwise a third of what was watched.
  private static let shortestWindow = TimeSpan.seconds(5)
  /// How quickly an estimate that was told gives way to a newer one.
  private static let inertia = TimeSpan.seconds(3)
  /// Counts that are kept; more would not make it better.
  private static let mostSamples = 256

  mutating func note(_ done: Int64, at now: MonotonicTime) {
    if let last = samples.last {
      // Whoever counts anew is measured anew.
      if done < last.done {
        samples.removeAll()
        end = nil
      } else if done == last.done {
        return
      }
    }
    samples.append(Sample(at: now, done: done))
    // Every second one of the older half goes: the beginning and the newest stay exact.
    guard samples.count > Self.mostSamples else { return }
    let half = Self.mostSamples / 2
    samples = samples.indices.filter { $0 >= half || $0 % 2 == 0 }.map { samples[$0] }
  }

  /// How many a second; nil where that is not worth telling yet.
  func rate(at now: MonotonicTime) -> Double? {
    guard let first = samples.first, let last = samples.last, now.since(first.at) >= Self.silence,
      last.done > first.done
    else { return nil }
    let window = max(Self.shortestWindow, now.since(first.at) / 3)
    let begin = samples.last { $0.done < last.done && now.since($0.at) >= window } ?? first
    // A count that stands still makes the pace slower with every moment, and does not leave it as it was.
    return Double(last.done - begin.done) / now.since(begin.at).inSeconds
  }

  /// How long the rest may take; nil where that is not worth telling yet.
  mutating func left(of total: Int64, at now: MonotonicTime) -> TimeSpan? {
    guard let first = samples.first, let last = samples.last, total > last.done, let rate = rate(at: now),
      last.done - first.done >= Self.leastSteps,
      (last.done - first.done) >= (total - first.done) / 100 * Self.leastShare
    else { return nil }
    // A century is as good as for ever, and fits.
    let fresh = TimeSpan.milliseconds(Int64(min(Double(total - last.done) / rate * 1000, 3.2e12)))
    var told = now + fresh
    if let end, end.total == total {
      let share = min(1, now.since(end.saidAt).inSeconds / Self.inertia.inSeconds)
      // The newest end may be the earlier one, and then the span between them is to be taken away.
      let change = Double(told.nanoseconds - end.at.nanoseconds) * share
      told = MonotonicTime(nanoseconds: end.at.nanoseconds + Int64(change))
    }
    end = (told, total, now)
    return told.since(now)
  }
}
