// Owns `bankctl logs`: what is wanted of the logs, and taking it from there to standard output.
// It must not know how logs are merged or followed, nor the rest of this program: its options come as plain
// values.
// Invariant: nothing is printed before it is certain that every worker asked for has a log. A reader that
// leaves ends the command quietly; so does Ctrl-C, by the signal's own way (130 for a shell).
// Failure: Refusal, which has an exit code and a sentence in the language asked for; see LogsCommand+MessageCatalog.
import Arguments
import BankModel
import Logbook
import Posix

/// Shows the workers' logs.
enum LogsCommand {
  /// Why nothing more is shown.
  struct Refusal: Error, Sendable, Equatable {
    /// The name for scripts.
    let code: String
    /// The exit code.
    let exit: Int32
    /// What failed, on what, why, and what to do: one line.
    let message: String
  }

  /// Takes bytes to whoever reads them.
  typealias Sink = ([UInt8]) throws(SystemError) -> StandardStreams.Outcome

  /// How many lines following begins with where nothing is said.
  static let linesBeforeFollowing = 10

  /// Shows the logs; when following, for ever.
  ///
  /// - Parameters:
  ///   - workers: All of them where none is named.
  ///   - last: At most so many lines of those that are there; without it ten before following, unless `since`
  /// says more, and else all.
  ///   - since: A duration back from now, a time of today (UTC) or an RFC 3339 time.
  /// - Returns: The exit code 0, when everything is shown or nobody reads it any more.
  static func run(
    logDirectory: String, workers: [String] = [], follow: Bool = false, last: Int? = nil,
    since: String? = nil, json: Bool = false, language: Language, now: Int64 = SystemClock.wallMilliseconds(),
    presentation: LogPresentation? = nil, output: Sink = standardOutput
  ) throws(Refusal) -> Int32 {
    if let last, last < 0 { throw .lines(last, language) }
    var query = LogQuery(directory: logDirectory, workers: workers, last: last)
    if let since {
      query.since = try moment(since, now: now, language)
    } else if follow {
      query.last = last ?? linesBeforeFollowing
    }
    // A worker has a handful of files, and a large branch more workers than a shell allows files.
    _ = try? ResourceLimits.raiseOpenFiles()
    let presentation = presentation ?? (json ? .json : Self.presentation())
    do throws(LogFailure) {
      let page = Page(presentation)
      if follow {
        try self.follow(query, page, output)
      } else {
        try show(query, page, output, sayIn: json ? nil : language)
      }
      return 0
    } catch {
      throw .logs(error, language)
    }
  }

  private static func show(
    _ query: LogQuery, _ page: Page, _ output: Sink, sayIn language: Language?
  ) throws(LogFailure) {
    let reader = try LogReader(query)
    var isEmpty = true
    while let record = try reader.next() {
      isEmpty = false
      page.add(record)
      if page.isFull, try !page.turn(output) { return }
    }
    _ = try page.turn(output)
    // Whoever asks for no lines knows that there are none.
    if isEmpty, query.last != 0, let language { Notes.say(MessageCatalog(language: language).noLogLines) }
  }

  private static func follow(_ query: LogQuery, _ page: Page, _ output: Sink) throws(LogFailure) {
    let loop = try system { () throws(SystemError) in try EventLoop() }
    let follower = try LogFollower(query, on: loop)
    let reader = ReaderWatch(on: loop)
    while !reader.isGone {
      while let record = try follower.next() {
        page.add(record)
        if page.isFull, try !page.turn(output) { return }
      }
      if try !page.turn(output) { return }
      _ = try system { () throws(SystemError) in try loop.runOnce(until: follower.deadline) }
    }
  }

  /// Reads what a person wrote for `--since`: milliseconds since 1970 UTC.
  static func moment(_ text: String, now: Int64, _ language: Language) throws(Refusal) -> Int64 {
    if let moment = LogMoment.parse(text, now: now) { return moment }
    do throws(DurationText.Failure) { return now - (try DurationText.parse(text)) / 1_000_000 } catch {
      throw .moment(text, language)
    }
  }

  /// Whether standard output is a terminal, and whether that takes colours (https://no-color.org).
  private static func presentation() -> LogPresentation {
    guard Terminal.isTerminal(StandardStreams.Stream.output.fd) else { return .plain }
    let refuses = Environment.value("NO_COLOR").map { !$0.isEmpty } ?? false
    return .terminal(coloured: !refuses && Environment.value("TERM") != "dumb")
  }

  private static func standardOutput(_ bytes: [UInt8]) throws(SystemError) -> StandardStreams.Outcome {
    try StandardStreams.write(bytes, to: .output)
  }

  private static func system<Result>(_ call: () throws(SystemError) -> Result) throws(LogFailure) -> Result {
    do throws(SystemError) { return try call() } catch { throw .system(error) }
  }
}

extension LogsCommand {
  /// Lines that are written together.
  private final class Page {
    private let presentation: LogPresentation
    private var bytes: [UInt8] = []

    init(_ presentation: LogPresentation) { self.presentation = presentation }

    var isFull: Bool { bytes.count >= 64 << 10 }

    func add(_ record: LogRecord) { presentation.append(record, to: &bytes) }

    /// Writes what there is; false where nobody reads it.
    func turn(_ output: Sink) throws(LogFailure) -> Bool {
      if bytes.isEmpty { return true }
      defer { bytes.removeAll(keepingCapacity: true) }
      return try LogsCommand.system { () throws(SystemError) in try output(bytes) } == .written
    }
  }
}
