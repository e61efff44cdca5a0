// Progress display: no progress within the first second, then a bar on a terminal, and plain lines elsewhere.
// Invariant: the meter clears its terminal line at the end.
import Arguments
import Posix
import Time

/// Prints the progress of a command on standard error.
package final class ProgressMeter {
  private let messages: MessageCatalog
  private let isTerminal: Bool
  private let columns: Int
  private let now: () -> MonotonicTime
  private let write: (String) -> Void
  private let begin: MonotonicTime
  private var pace = ETAEstimator()
  private var lastShown: MonotonicTime?
  private var hasBar = false

  private static let silence = TimeSpan.seconds(1)
  private static let terminalPause = TimeSpan.milliseconds(100)
  private static let plainPause = TimeSpan.seconds(5)
  private static let barWidth = 24
  private static let shortestBar = 6

  /// Starts to measure.
  package init(
    messages: MessageCatalog, isTerminal: Bool = Terminal.isTerminal(2),
    columns: Int = Terminal.size(of: 2)?.columns ?? 80,
    now: @escaping () -> MonotonicTime = SystemClock.monotonic,
    write: @escaping (String) -> Void = StandardErrorNotes.write
  ) {
    self.messages = messages
    self.isTerminal = isTerminal
    self.columns = columns
    self.now = now
    self.write = write
    begin = now()
  }

  /// Earliest time of progress output, one second after creation. A caller requests the data to show at this time.
  var isDue: MonotonicTime { begin + Self.silence }

  /// Shows the progress if output is due; `total` is 0 if unknown.
  package func update(_ label: String, done: Int64, total: Int64) {
    let instant = now()
    pace.note(done, at: instant)
    guard isDue(at: instant) else { return }
    show(text(label, done, total, at: instant), at: instant)
  }

  /// Shows the elapsed time if output is due, for a task whose progress is unknown.
  func pass(_ label: String) {
    let instant = now()
    guard isDue(at: instant) else { return }
    show("\(label) · \(messages.elapsed(instant.since(begin)))", at: instant)
  }

  /// Time of the next progress output.
  var nextDue: MonotonicTime { lastShown.map { max(isDue, $0 + pause(at: now())) } ?? isDue }

  /// True if the first second and the pause since the last output have passed.
  private func isDue(at instant: MonotonicTime) -> Bool {
    instant >= isDue && lastShown.map { instant >= $0 + pause(at: instant) } != false
  }

  /// Time between two outputs. The interval of plain lines grows, so that a long wait does not fill a log.
  private func pause(at instant: MonotonicTime) -> TimeSpan {
    isTerminal ? Self.terminalPause : max(Self.plainPause, instant.since(begin) / 10)
  }

  /// Writes a progress line over the previous one, or below it without a terminal.
  private func show(_ line: String, at instant: MonotonicTime) {
    lastShown = instant
    if isTerminal {
      write("\r\u{1B}[K" + fitted(line))
      hasBar = true
    } else {
      write(line + "\n")
    }
  }

  /// Prints a line that stays, in place of the bar.
  func say(_ line: String) {
    finish()
    write(line + "\n")
  }

  /// Clears the bar.
  package func finish() {
    if hasBar { write("\r\u{1B}[K") }
    hasBar = false
  }

  /// The progress as one line: label, bar, counts, rate, remaining time, as far as they fit.
  private func text(_ label: String, _ done: Int64, _ total: Int64, at instant: MonotonicTime) -> String {
    let rate = pace.rate(at: instant).flatMap(messages.rate).map { "· " + $0 }
    guard total > 0 else {
      return [label, MessageCatalog.grouped(done), rate].compactMap(\.self).joined(separator: " ")
    }
    let share = min(1, max(0, Double(done) / Double(total)))
    let percent = "\(Int(share * 100))%"
    let counts = "\(MessageCatalog.grouped(done))/\(MessageCatalog.grouped(total))"
    let left =
      total > done
      ? pace.left(of: total, at: instant).map { "· " + messages.left(messages.estimate($0)) } : nil
    /// The parts that are not nil, separated by spaces.
    func line(_ parts: String?...) -> String { parts.compactMap(\.self).joined(separator: " ") }
    let whole = line(label, percent, counts, rate, left)
    guard isTerminal else { return whole }
    if let bar = bar(share, width: room(beside: whole)) {
      return line(label, bar, percent, counts, rate, left)
    }
    // The rate is dropped first, then the counts, then the remaining time.
    let shorter = [
      whole, line(label, percent, counts, left), line(label, percent, left), line(label, percent),
    ]
    return shorter.first { room(beside: $0) >= 0 } ?? percent
  }

  /// Columns left beside a line on the terminal.
  private func room(beside line: String) -> Int { columns - 1 - DisplayWidth.of(line) }

  /// A bar in brackets; nil if `width` has no room for it and the space after it.
  private func bar(_ share: Double, width: Int) -> String? {
    let length = min(Self.barWidth, width - 3)
    guard length >= Self.shortestBar else { return nil }
    let full = Int(share * Double(length))
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: length - full) + "]"
  }

  /// The line cut to the width of the terminal, because a wrapped line could not be cleared.
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
