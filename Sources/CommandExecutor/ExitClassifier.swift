// Conversion of a command's outcome into a result or a failure of its customer.
// Invariant: a truncated result is recognizable by its true length. The text about a command that has failed starts
// with its exit or its timeout. It ends with the last lines of standard error, or of standard output if standard error
// is empty.
import BankModel
import CommandRunner
import Posix
import Teller
import Time
import Wire

/// Meanings of the exits of one service's commands.
struct ExitClassifier {
  /// Maximum number of last lines in the text of a failure.
  private static let maximumLines = 20

  /// Maximum number of bytes of each stream that are stored with the receipt.
  let storedBytes: Int
  private let table: ExitTable
  private let timeout: TimeSpan?

  /// Reads the meanings of exits that the service configures in addition to the standard ones.
  init(_ settings: CommandSettings) {
    storedBytes = Int(min(max(0, settings.resultBytes), Int64(TruncatedOutput.longest)))
    timeout = settings.timeoutMilliseconds.map { .milliseconds($0) }
    var table = ExitTable.standard
    if settings.words.isEmpty {
      // A missing program is the fault of this customer's command line alone, so it must not pause the
      // service.
      for code: Int32 in [126, 127] where !table.set(code, to: .dead) {
        preconditionFailure("a code of a shell")
      }
    }
    for meaning in settings.meanings {
      let verdict = CommandVerdict(meaning.consequence)
      switch meaning.code {
      case CommandSettings.Meaning.others: table.others = verdict
      case CommandSettings.Meaning.signals: table.signals = verdict
      case CommandSettings.Meaning.timeouts: table.timeouts = verdict
      // A code with which no process can exit is ignored.
      default: _ = table.set(meaning.code, to: verdict)
      }
    }
    self.table = table
  }

  func provisionResult(of outcome: CommandOutcome) -> ProvisionResult {
    let verdict = table.verdict(of: outcome)
    if verdict == .cancelled { return .returned }
    let end = ProcessEnd(outcome.ending)
    guard let consequence = verdict.consequence else {
      return .worked(
        WorkResult(
          ending: end, duration: outcome.duration, output: excerpt(of: outcome.output),
          errors: excerpt(of: outcome.errors)))
    }
    return .failed(WorkFailure(message(of: outcome), consequence, processEnd: end))
  }

  func failure(of refusal: CommandStartError) -> WorkFailure {
    // The work was not done, even if the table calls the equivalent exit code a success.
    WorkFailure(refusal.description, table.verdict(of: refusal).consequence ?? .again)
  }

  /// The stored part of a stream: all of it, or the first and the last half of the limit.
  func excerpt(of stream: CapturedOutput) -> TruncatedOutput {
    let (head, tail) = (storedBytes - storedBytes / 2, storedBytes / 2)
    let filed = min(stream.fileLength, stream.length)
    let excerpt: TruncatedOutput?
    if stream.length <= Int64(storedBytes) {
      excerpt = TruncatedOutput(first: stream.first + stream.last)
    } else {
      let end = stream.omitted == 0 ? stream.first + stream.last : stream.last
      excerpt = TruncatedOutput(
        first: Array(stream.first.prefix(head)), last: Array(end.suffix(tail)), length: stream.length,
        filed: filed)
    }
    guard let excerpt else { preconditionFailure("an excerpt is a part of its stream") }
    return excerpt
  }

  // MARK: Text

  /// Text about a command that has failed: the reason, and the last lines of its output.
  private func message(of outcome: CommandOutcome) -> String {
    var message = reason(of: outcome)
    if !outcome.leftBehind.isEmpty {
      let numbers = outcome.leftBehind.prefix(8).map { String($0) }.joined(separator: ", ")
      message += "; processes that could not be ended: \(numbers)"
    }
    let room = Attempt.maxFailureTextBytes - message.utf8.count - 1
    let capturedOutput = outcome.errors.length > 0 ? outcome.errors : outcome.output
    let lines = Self.lastLines(of: capturedOutput, atMost: room)
    return lines.isEmpty ? message : "\(message)\n\(lines)"
  }

  /// The exit or the timeout in words: `exit code 2`, `killed by SIGKILL`.
  private func reason(of outcome: CommandOutcome) -> String {
    if outcome.isTimedOut { return "took longer than \(Self.message(for: timeout ?? outcome.duration))" }
    return switch outcome.ending {
    case .code(let code): "exit code \(code)"
    case .signal(let signal, let coreDumped):
      "killed by \(Signals.name(signal))\(coreDumped ? " (core dumped)" : "")"
    case .unknown: "ended; exit status unknown"
    }
  }

  /// Formats a span: `30s`, or `1500ms`.
  private static func message(for span: TimeSpan) -> String {
    span.milliseconds % 1_000 == 0 ? "\(span.milliseconds / 1_000)s" : "\(span.milliseconds)ms"
  }

  /// The last lines of a stream, in at most `room` bytes, without control characters that a terminal would
  /// interpret.
  static func lastLines(of stream: CapturedOutput, atMost room: Int) -> String {
    let end = stream.omitted == 0 ? stream.first + stream.last : stream.last
    var bytes = end[...]
    /// True for ASCII white space.
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    let isWhole = bytes.count <= room && stream.omitted == 0
    bytes = bytes.suffix(max(0, room))
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // The first line may be incomplete; it is kept only if it is the only line.
    if !isWhole, lines.count > 1 { lines.removeFirst() }
    var text = lines.suffix(maximumLines).map(Self.text).joined(separator: "\n")
    // The replacement of invalid UTF-8 and of control characters may have made the text longer.
    while text.utf8.count > room { text.removeFirst() }
    return text
  }

  /// One line as text, with U+FFFD in place of control characters and of invalid UTF-8.
  private static func text(_ line: ArraySlice<UInt8>) -> String {
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    var text = ""
    for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
      let isControl = scalar.value < 0x20 && scalar != "\t" || (0x7f...0x9f).contains(scalar.value)
      text.unicodeScalars.append(isControl ? "\u{fffd}" : scalar)
    }
    return text
  }
}

extension ProcessEnd {
  /// The exit code or signal of a process; nil if the exit status is unknown.
  init?(_ ending: Posix.ExitStatus.Termination) {
    switch ending {
    case .code(let code): self = .code(code)
    case .signal(let signal, _): self = .signal(signal)
    case .unknown: return nil
    }
  }
}

extension CommandVerdict {
  /// The verdict with this consequence; `served` for none.
  init(_ consequence: WorkFailure.Consequence?) {
    switch consequence {
    case nil: self = .served
    case .again: self = .failed
    case .later: self = .later
    case .never: self = .dead
    case .crash: self = .crash
    case .pause: self = .pause
    }
  }

  /// What happens to the customer after a failure; nil for a served customer.
  var consequence: WorkFailure.Consequence? {
    switch self {
    case .served: nil
    case .failed, .cancelled: .again
    case .later: .later
    case .dead: .never
    case .crash: .crash
    case .pause: .pause
    }
  }
}
