// Owns how progress is shown: nothing within the first second, then a bar on a terminal and plain lines
// elsewhere.
// Invariant: it writes to standard error only, and leaves a terminal's line empty when it is finished.
import Arguments
import Posix
import Time

package final class ProgressMeter {
  private let words: MessageCatalog
  private let isTerminal: Bool
  private let columns: Int
  private let now: () -> MonotonicTime
  private let write: (String) -> Void
  private let begin: MonotonicTime
  private var pace = PaceEstimate()
  private var lastShown: MonotonicTime?
  private var hasBar = false

  private static let silence = TimeSpan.seconds(1)
  private static let terminalPause = TimeSpan.milliseconds(100)
  private static let plainPause = TimeSpan.seconds(5)
  private static let barWidth = 24
  private static let shortestBar = 6

  /// Begins to measure. The clock and the sink are handed in by tests.
  package init(
    words: MessageCatalog, isTerminal: Bool = Terminal.isTerminal(2),
    columns: Int = Terminal.size(of: 2)?.columns ?? 80,
    now: @escaping () -> MonotonicTime = SystemClock.monotonic,
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
  var isDue: MonotonicTime { begin + Self.silence }

  /// Says how far it has come; `total` 0 where nobody knows.
  package func update(_ label: String, done: Int64, total: Int64) {
    let instant = now()
    pace.note(done, at: instant)
    guard isDue(at: instant) else { return }
    show(text(label, done, total, at: instant), at: instant)
  }

  /// Says how long it has lasted, where nobody can say how far it has come.
  func pass(_ label: String) {
    let instant = now()
    guard isDue(at: instant) else { return }
    show("\(label) · \(words.elapsed(instant.since(begin)))", at: instant)
  }

  var nextDue: MonotonicTime { lastShown.map { max(isDue, $0 + pause(at: now())) } ?? isDue }

  private func isDue(at instant: MonotonicTime) -> Bool {
    instant >= isDue && lastShown.map { instant >= $0 + pause(at: instant) } != false
  }

  /// What takes ten minutes need not fill a log with a line every few seconds.
  private func pause(at instant: MonotonicTime) -> TimeSpan {
    isTerminal ? Self.terminalPause : max(Self.plainPause, instant.since(begin) / 10)
  }

  private func show(_ line: String, at instant: MonotonicTime) {
    lastShown = instant
    if isTerminal {
      write("\r\u{1B}[K" + fitted(line))
      hasBar = true
    } else {
      write(line + "\n")
    }
  }

  func say(_ line: String) {
    finish()
    write(line + "\n")
  }

  package func finish() {
    if hasBar { write("\r\u{1B}[K") }
    hasBar = false
  }

  private func text(_ label: String, _ done: Int64, _ total: Int64, at instant: MonotonicTime) -> String {
    let rate = pace.rate(at: instant).flatMap(words.rate).map { "· " + $0 }
    guard total > 0 else {
      return [label, MessageCatalog.grouped(done), rate].compactMap(\.self).joined(separator: " ")
    }
    let share = min(1, max(0, Double(done) / Double(total)))
    let percent = "\(Int(share * 100))%"
    let counts = "\(MessageCatalog.grouped(done))/\(MessageCatalog.grouped(total))"
    let left =
      total > done ? pace.left(of: total, at: instant).map { "· " + words.left(words.estimate($0)) } : nil
    func line(_ parts: String?...) -> String { parts.compactMap(\.self).joined(separator: " ") }
    let whole = line(label, percent, counts, rate, left)
    guard isTerminal else { return whole }
    if let bar = bar(share, width: room(beside: whole)) {
      return line(label, bar, percent, counts, rate, left)
    }
    // What a person waits for stays longest.
    let shorter = [
      whole, line(label, percent, counts, left), line(label, percent, left), line(label, percent),
    ]
    return shorter.first { room(beside: $0) >= 0 } ?? percent
  }

  /// So many columns are left beside a line on the terminal.
  private func room(beside line: String) -> Int { columns - 1 - DisplayWidth.of(line) }

  /// A bar with its brackets and the space behind it; nil where there is no room for one.
  private func bar(_ share: Double, width: Int) -> String? {
    let length = min(Self.barWidth, width - 3)
    guard length >= Self.shortestBar else { return nil }
    let full = Int(share * Double(length))
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: length - full) + "]"
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
