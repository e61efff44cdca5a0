// Owns how progress is shown: nothing within the first second, then a bar on a terminal and plain lines
// elsewhere.
// It must not know what is progressing.
// Invariant: it writes to standard error only, and leaves a terminal's line empty when it is finished.
// Failure: none; where standard error takes nothing there is nobody to tell.
import Arguments
import Posix

/// Shows how far something has come.
final class ProgressMeter {
  private let words: Words
  private let isTerminal: Bool
  private let columns: Int
  private let now: () -> MonotonicInstant
  private let write: (String) -> Void
  private let begin: MonotonicInstant
  private var pace = PaceEstimate()
  private var lastShown: MonotonicInstant?
  private var hasBar = false

  private static let silence = Duration.seconds(1)
  private static let terminalPause = Duration.milliseconds(100)
  private static let plainPause = Duration.seconds(5)
  private static let barWidth: Int64 = 24

  /// Begins to measure. The clock and the sink are handed in by tests.
  init(
    words: Words, isTerminal: Bool = Terminal.isTerminal(2),
    columns: Int = Terminal.size(of: 2)?.columns ?? 80,
    now: @escaping () -> MonotonicInstant = SystemClock.monotonic,
    write: @escaping (String) -> Void = Notes.write
  ) {
    self.words = words
    self.isTerminal = isTerminal
    self.columns = columns
    self.now = now
    self.write = write
    begin = now()
  }

  /// When it is time to have something to show, for whoever has to ask for it first.
  var isDue: MonotonicInstant { begin + Self.silence }

  /// Says how far it has come; `total` 0 where nobody knows.
  func update(_ label: String, done: Int64, total: Int64) {
    let instant = now()
    pace.note(done, at: instant)
    guard isDue(at: instant) else { return }
    show(text(label, done, total, at: instant), at: instant)
  }

  /// Says how long it has lasted, where nobody can say how far it has come.
  func pass(_ label: String) {
    let instant = now()
    guard isDue(at: instant) else { return }
    show("\(label) · \(words.elapsed(instant - begin))", at: instant)
  }

  /// When there is something to show the next time.
  var nextDue: MonotonicInstant { lastShown.map { max(isDue, $0 + pause(at: now())) } ?? isDue }

  private func isDue(at instant: MonotonicInstant) -> Bool {
    instant >= isDue && lastShown.map { instant >= $0 + pause(at: instant) } != false
  }

  /// What takes ten minutes need not fill a log with a line every few seconds.
  private func pause(at instant: MonotonicInstant) -> Duration {
    isTerminal ? Self.terminalPause : max(Self.plainPause, (instant - begin) / 10)
  }

  private func show(_ line: String, at instant: MonotonicInstant) {
    lastShown = instant
    if isTerminal {
      write("\r\u{1B}[K" + fitted(line))
      hasBar = true
    } else {
      write(line + "\n")
    }
  }

  /// Says a whole line beside the progress.
  func say(_ line: String) {
    finish()
    write(line + "\n")
  }

  /// Takes the bar away.
  func finish() {
    if hasBar { write("\r\u{1B}[K") }
    hasBar = false
  }

  private func text(_ label: String, _ done: Int64, _ total: Int64, at instant: MonotonicInstant) -> String {
    var parts: [String] = [label]
    if total > 0 {
      let share = min(1, max(0, Double(done) / Double(total)))
      if isTerminal { parts.append(bar(share)) }
      parts.append("\(Int(share * 100))%")
      parts.append("\(Words.grouped(done))/\(Words.grouped(total))")
    } else {
      parts.append(Words.grouped(done))
    }
    if let rate = pace.rate(at: instant).flatMap(words.rate) { parts.append("· " + rate) }
    if total > done, let left = pace.left(of: total, at: instant) {
      parts.append("· " + words.left(words.estimate(left)))
    }
    return parts.joined(separator: " ")
  }

  private func bar(_ share: Double) -> String {
    let full = Int(share * Double(Self.barWidth))
    return "[" + String(repeating: "#", count: full)
      + String(repeating: "-", count: Int(Self.barWidth) - full) + "]"
  }

  /// A line that wraps could not be taken back.
  private func fitted(_ line: String) -> String {
    var shown = ""
    var width = 0
    for character in line {
      width += DisplayWidth.of(character)
      if width >= columns { break }
      shown.append(character)
    }
    return shown
  }
}
