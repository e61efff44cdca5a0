// `bankctl logs`: selects log lines and writes them to standard output. Logs are files, so the command also
// works on a closed bank.
// Ctrl-C ends the command by SIGINT.
import Arguments
import Logging
import Posix
import Time

/// Implementation of `bankctl logs`.
enum LogsCommand {
  /// Default number of old lines when following.
  private static let linesBeforeFollowing = 10

  /// Prints the logs that the command line selects.
  static func run(_ session: Session) throws(CommandError) {
    let (invocation, output) = (session.invocation, session.output)
    let presentation: LogPresentation =
      session.asJSON ? .json : output.isTerminal ? .terminal(coloured: output.palette.isOn) : .plain
    try run(
      logDirectory: session.home.logs, workers: invocation.operands.texts("PROCESS"),
      follow: invocation.flag("follow"), last: invocation.integer("lines").map { Int($0) },
      since: invocation.text("since"), as: presentation, session.messages, to: output)
  }

  /// Prints the logs. With `follow`, the function returns when the reader of the output has closed it.
  /// - Parameters:
  ///   - workers: Names of the processes; empty for all.
  ///   - last: Maximum number of old lines. The default is `linesBeforeFollowing` with `follow` and without `since`,
  ///     and all otherwise.
  ///   - since: A duration back from now, a time of today (UTC) or an RFC 3339 time.
  static func run(
    logDirectory: String, workers: [String] = [], follow: Bool = false, last: Int? = nil,
    since: String? = nil, now: Int64 = SystemClock.wall().milliseconds,
    as presentation: LogPresentation = .plain, _ messages: MessageCatalog, to output: Output
  ) throws(CommandError) {
    if let last, last < 0 { throw .usage(messages.noNumberOfLines(last)) }
    var query = LogQuery(directory: logDirectory, workers: workers, last: last)
    if let since {
      query.since = try moment(since, now: now, messages)
    } else if follow {
      query.last = last ?? linesBeforeFollowing
    }
    // A large bank may have more log files than the default limit of open files allows.
    _ = try? ResourceLimits.raiseOpenFiles()
    if follow { return try self.follow(query, presentation, messages, output) }
    let reader = try read(LogReader(query), messages)
    var isEmpty = true
    while let record = try read(reader.next(), messages) {
      isEmpty = false
      try output.line(record, as: presentation)
    }
    try output.flush()
    // With `--lines 0` the user expects no lines.
    if isEmpty, last != 0, presentation != .json { StandardErrorNotes.say(messages.noLogLines) }
  }

  /// Prints old lines, and then new lines until the reader of the output has closed it.
  private static func follow(
    _ query: LogQuery, _ presentation: LogPresentation, _ messages: MessageCatalog, _ output: Output
  ) throws(CommandError) {
    let loop = try fromSystem(EventLoop())
    let follower = try read(LogFollower(query, on: loop), messages)
    let reader = OutputReaderMonitor(on: loop)
    while !reader.isGone {
      while let record = try read(follower.next(), messages) { try output.line(record, as: presentation) }
      try output.flush()
      try loop.runIteration(until: follower.deadline)
    }
  }

  /// Parses `--since`. Returns milliseconds since 1970 UTC.
  private static func moment(
    _ text: String, now: Int64, _ messages: MessageCatalog
  ) throws(CommandError) -> Int64 {
    if let moment = LogMoment.parse(text, now: now) { return moment }
    do throws(DurationText.Failure) { return now - (try DurationText.parse(text)).milliseconds } catch {
      throw .usage(messages.noMoment(text))
    }
  }

  /// Makes a call that reads logs, and converts its error into that of the command.
  private static func read<Result>(
    _ call: @autoclosure () throws(LogFailure) -> Result, _ messages: MessageCatalog
  ) throws(CommandError) -> Result {
    do throws(LogFailure) { return try call() } catch {
      throw .commandFailure(messages.commandFailure(about: error))
    }
  }
}
