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
  private var firstCount: (at: MonotonicInstant, done: Int64)?
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
    if firstCount == nil || firstCount.map({ $0.done > done }) == true { firstCount = (instant, done) }
    guard instant >= isDue else { return }
    // What takes ten minutes need not fill a log with a line every few seconds.
    let pause = isTerminal ? Self.terminalPause : max(Self.plainPause, (instant - begin) / 10)
    if let lastShown, instant < lastShown + pause { return }
    lastShown = instant
    let line = text(label, done, total, at: instant)
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
    guard let first = firstCount, done > first.done else { return parts.joined(separator: " ") }
    let seconds = Double((instant - first.at).wholeNanoseconds) / 1e9
    guard seconds > 0 else { return parts.joined(separator: " ") }
    let rate = Double(done - first.done) / seconds
    parts.append("· " + words.rate(Int64(rate)))
    if total > done, rate > 0 {
      // A century is as good as for ever, and fits.
      let left = min(Double(total - done) / rate, 3.2e9)
      parts.append("· " + words.left(words.span(milliseconds: Int64(left * 1000))))
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
