// Removal of output files of commands that were not written to for the configured time (`output_retention`), a few
// files at a time.
// Invariants: files of customers at windows are not removed. Before the first removal of a round, the marker file
// `output/removed` in the home records the time limit, so that a request for a removed file can be answered with the
// reason.
// Errors: if a file cannot be read or removed, the rest of its day's directory stays for the next round.

import Arguments
import BankModel
import Configuration
import Posix
import Time

final class OutputRetention: CoordinatorComponent {
  /// Pause between two rounds, and between two parts of a round.
  private static let (rest, pause) = (TimeSpan.seconds(3_600), TimeSpan.milliseconds(5))
  /// Number of files per part: larger parts would delay customers.
  private static let atOnce = 64

  /// One round over all output files.
  private struct RetentionSweep {
    /// Files last written before this time are removed.
    let horizon: WallTime
    /// Days whose directories remain to be checked.
    var days: ArraySlice<BusinessDay>
    var names: DirectoryStream?
    var files: Int64 = 0
    var bytes: Int64 = 0
    /// True after the time limit of this round was written to the marker file.
    var isRecorded = false
    var lastError: SystemError?
  }

  /// Round in progress; nil between two rounds.
  private var sweep: RetentionSweep?
  private var nextSweepAt: MonotonicTime
  /// Business day at the last check, to detect the end of a day.
  private var day: BusinessDay

  override init(_ dependencies: CoordinatorComponent) {
    nextSweepAt = dependencies.context.now.monotonic
    day = dependencies.queue.machine.dayCounters.day
    super.init(dependencies)
  }

  /// Time for which output files are kept; 0 keeps them permanently.
  private var retention: TimeSpan { context.configuration.outputRetention }
  private var output: String { context.home.output }

  var nextDeadline: MonotonicTime? { retention > .zero ? nextSweepAt : nil }

  /// Starts a round or continues the present one, if that is due.
  func runTimers() {
    if queue.machine.dayCounters.day != day {
      day = queue.machine.dayCounters.day
      if sweep == nil { nextSweepAt = context.now.monotonic }
    }
    guard retention > .zero else { return sweep = nil }
    guard nextSweepAt <= context.now.monotonic else { return }
    if var present = sweep ?? begin() {
      let isOver = runPart(on: &present)
      sweep = isOver ? nil : present
      if isOver { logSweep(present) }
    }
    nextSweepAt = context.now.monotonic + (sweep == nil ? Self.rest : Self.pause)
  }

  /// New round; nil if it cannot start.
  private func begin() -> RetentionSweep? {
    let (horizon, overflow) = context.now.wall.milliseconds.subtractingReportingOverflow(
      retention.milliseconds)
    guard !overflow, let days = try? Directory.entries(of: output) else { return nil }
    return RetentionSweep(
      horizon: WallTime(milliseconds: horizon), days: days.compactMap { BusinessDay($0) }.sorted()[...])
  }

  /// Runs one part of a round. Returns true if the round is complete.
  private func runPart(on sweep: inout RetentionSweep) -> Bool {
    guard let day = sweep.days.first else { return true }
    let directory = Paths.join(output, String(day))
    do throws(SystemError) {
      let names: DirectoryStream
      if let present = sweep.names { names = present } else { names = try DirectoryStream(directory) }
      sweep.names = names
      let some = try names.next(Self.atOnce)
      guard some.isEmpty else {
        for name in some { try check(at: name, of: day, in: directory, &sweep) }
        return false
      }
    } catch { sweep.lastError = error }
    // Removes an empty directory of an earlier day; the directory of the present day is in use. `rmdir(2)`
    // refuses directories with files.
    if day < self.day { Directory.removeEmpty(directory) }
    sweep.names = nil
    sweep.days.removeFirst()
    return false
  }

  /// Removes an output file that is older than the time limit and whose customer is not at a window.
  private func check(
    at name: String, of day: BusinessDay, in directory: String, _ sweep: inout RetentionSweep
  ) throws(SystemError) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1] == "out" || parts[1] == "err", let ticket = TicketNumber(parts[0]) else {
      return
    }
    let path = Paths.join(directory, name)
    guard let facts = try FileMetadata.inspect(path, followLinks: false), facts.isFile,
      try FileDescriptor.open(path, [.readOnly, .noFollow]).modificationTime() / 1_000_000
        < sweep.horizon.milliseconds,
      !isAtWork(ticket, of: day)
    else { return }
    if !sweep.isRecorded {
      try record(sweep.horizon)
      sweep.isRecorded = true
    }
    try Directory.unlink(path)
    sweep.files += 1
    sweep.bytes += facts.size
  }

  /// True if the customer with this ticket is at a window.
  private func isAtWork(_ ticket: TicketNumber, of day: BusinessDay) -> Bool {
    day == queue.machine.dayCounters.day
      && queue.machine.servingCustomers.contains { $0.customer.ticket == ticket }
  }

  /// Writes to the marker file that output files from before this time may be removed, for later answers to requests
  /// for them. The recorded time never decreases, even if the clock was set back.
  private func record(_ horizon: WallTime) throws(SystemError) {
    let path = OutputMarkerFile.path(in: context.home.path)
    if let former = OutputMarkerFile.read(path), former >= horizon { return }
    try FileDescriptor.open(path + ".new", [.writeOnly, .create, .truncate], mode: 0o600)
      .writeAll(OutputMarkerFile.text(horizon))
    try Directory.rename(path + ".new", to: path)
  }

  /// Logs what a finished round has removed, and its last error.
  private func logSweep(_ sweep: RetentionSweep) {
    if sweep.files > 0 {
      context.write(event: "output_removed") {
        $0.field("files", sweep.files)
        $0.field("bytes", sweep.bytes)
        $0.field("output_retention", DurationText.print(retention))
      }
    }
    guard let lastError = sweep.lastError else { return }
    context.write(event: "output_removal_failed", level: .warn) { $0.field("msg", lastError.description) }
  }
}
