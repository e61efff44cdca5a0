// Removal of old output files of commands (`output_retention`). All files are checked at the start, after the end of a
// day, and an hour after the last check has ended; a few files at a time. Files not written to for the configured time
// are removed.
// Invariants: files of customers at windows are not removed. Before the first removal of a round, the marker file
// `output/removed` in the home records the time limit, so that a request for a removed file can be answered with the
// reason. A client that has a file open can read it to the end.
// Errors: if a file cannot be read or removed, the rest of its day's directory stays for the next round. The log
// contains the last error of a round.

import Arguments
import BankModel
import Configuration
import Posix
import Time

final class OutputKeeper: BankPart {
  /// Pause between two rounds, and between two parts of a round.
  private static let (rest, pause) = (TimeSpan.seconds(3_600), TimeSpan.milliseconds(5))
  /// Number of files per part. Each file costs the kernel some microseconds, so larger parts would delay
  /// customers.
  private static let atOnce = 64

  private struct Round {
    /// Files last written before this time are removed.
    let horizon: WallTime
    var days: ArraySlice<BusinessDay>
    var names: DirectoryStream?
    var files: Int64 = 0
    var bytes: Int64 = 0
    var isNoted = false
    var trouble: SystemError?
  }

  private var round: Round?
  private var nextTurn: MonotonicTime
  private var day: BusinessDay

  override init(_ ground: BankPart) {
    nextTurn = ground.context.now.monotonic
    day = ground.queue.machine.books.day
    super.init(ground)
  }

  private var keep: TimeSpan { context.configuration.keepOutput }
  private var output: String { context.home.output }

  var nextDeadline: MonotonicTime? { keep > .zero ? nextTurn : nil }

  func keepTime() {
    if queue.machine.books.day != day {
      day = queue.machine.books.day
      if round == nil { nextTurn = context.now.monotonic }
    }
    guard keep > .zero else { return round = nil }
    guard nextTurn <= context.now.monotonic else { return }
    if var present = round ?? begin() {
      let isOver = go(on: &present)
      round = isOver ? nil : present
      if isOver { tell(present) }
    }
    nextTurn = context.now.monotonic + (round == nil ? Self.rest : Self.pause)
  }

  private func begin() -> Round? {
    let (horizon, overflow) = context.now.wall.milliseconds.subtractingReportingOverflow(keep.milliseconds)
    guard !overflow, let days = try? Directory.entries(of: output) else { return nil }
    return Round(
      horizon: WallTime(milliseconds: horizon), days: days.compactMap { BusinessDay($0) }.sorted()[...])
  }

  /// Runs one part of a round. Returns true if the round is complete.
  private func go(on round: inout Round) -> Bool {
    guard let day = round.days.first else { return true }
    let directory = Paths.join(output, String(day))
    do throws(SystemError) {
      let names: DirectoryStream
      if let present = round.names { names = present } else { names = try DirectoryStream(directory) }
      round.names = names
      let some = try names.next(Self.atOnce)
      guard some.isEmpty else {
        for name in some { try look(at: name, of: day, in: directory, &round) }
        return false
      }
    } catch { round.trouble = error }
    // Removes an empty directory of an earlier day; the directory of the present day is in use. `rmdir(2)`
    // refuses directories with files.
    if day < self.day { Directory.removeEmpty(directory) }
    round.names = nil
    round.days.removeFirst()
    return false
  }

  private func look(
    at name: String, of day: BusinessDay, in directory: String, _ round: inout Round
  ) throws(SystemError) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1] == "out" || parts[1] == "err", let ticket = TicketNumber(parts[0]) else {
      return
    }
    let path = Paths.join(directory, name)
    guard let facts = try FileFacts.inspect(path, followLinks: false), facts.isFile,
      try FileDescriptor.open(path, [.readOnly, .noFollow]).lastWritten() / 1_000_000
        < round.horizon.milliseconds,
      !isAtWork(ticket, of: day)
    else { return }
    if !round.isNoted {
      try note(round.horizon)
      round.isNoted = true
    }
    try Directory.unlink(path)
    round.files += 1
    round.bytes += facts.size
  }

  private func isAtWork(_ ticket: TicketNumber, of day: BusinessDay) -> Bool {
    day == queue.machine.books.day && queue.machine.atWindows.contains { $0.customer.ticket == ticket }
  }

  /// Records the time up to which files may be removed. The recorded time never decreases, even if the clock
  /// was set back.
  private func note(_ horizon: WallTime) throws(SystemError) {
    let path = OutputNote.path(in: context.home.path)
    if let former = OutputNote.read(path), former >= horizon { return }
    try FileDescriptor.open(path + ".new", [.writeOnly, .create, .truncate], mode: 0o600)
      .writeAll(OutputNote.text(horizon))
    try Directory.rename(path + ".new", to: path)
  }

  private func tell(_ round: Round) {
    if round.files > 0 {
      context.write(event: "output_removed") {
        $0.field("files", round.files)
        $0.field("bytes", round.bytes)
        $0.field("output_retention", DurationText.print(keep))
      }
    }
    guard let trouble = round.trouble else { return }
    context.write(event: "output_removal_failed", level: .warn) { $0.field("msg", trouble.description) }
  }
}
