// Waits for one ticket, and passes on the output of its command.
// Invariant: output is not repeated after a reconnect.
// Errors: `CommandError`. A signal ends the wait, not the command.

import BankModel
import Configuration
import Posix
import Time
import Wire

/// Prints the output of a ticket's command, and waits for the end of the ticket.
final class OutputStreamer {
  /// A standard stream of a command: output or errors.
  enum Stream: CaseIterable {
    case output, errors

    /// Name of the file that stores this stream of the command of a ticket: `7.out` or `7.err`.
    func file(_ ticket: Int64) -> String { "\(ticket).\(self == .output ? "out" : "err")" }
    /// The excerpt of this stream in the result of the command.
    func kept(in result: WorkResult) -> TruncatedOutput { self == .output ? result.output : result.errors }
  }

  private static let pause = TimeSpan.milliseconds(50)

  private let day: Int64
  private let ticket: Int64
  private let session: Session
  private(set) var coordinator: CoordinatorClient
  /// True if output of the command could not be passed on, or if it is unknown whether there was any.
  private(set) var hasLost = false
  private let wait: InterruptibleWait

  init(
    day: Int64, ticket: Int64, _ session: Session, _ coordinator: CoordinatorClient, _ wait: InterruptibleWait
  ) {
    (self.day, self.ticket, self.session) = (day, ticket, session)
    (self.coordinator, self.wait) = (coordinator, wait)
  }

  /// Path of the file that a running command writes its stream to.
  static func path(_ home: String, day: Int64, ticket: Int64, _ stream: Stream) -> String {
    Paths.join(home, "output", String(day), stream.file(ticket))
  }

  /// Prints these streams of the command until its ticket has ended, and returns the ticket; nil if a signal was
  /// received first.
  func streamUntilEnd(streams: [Stream]) throws(CommandError) -> TicketReport? {
    let followers = streams.map { ($0, follower($0, of: streams)) }
    while true {
      do throws(CommandError) {
        let number = try coordinator.send(.awaitTickets(day: day, first: ticket, last: ticket))
        while true {
          let reply = try wait.next(
            at: coordinator, until: streams.isEmpty ? nil : SystemClock.monotonic() + Self.pause)
          for (_, follower) in followers { try follower.forwardNew() }
          if !streams.isEmpty { try session.output.flush() }
          if wait.signal != nil { return nil }
          if reply?.number == number { break }
        }
        let report = try coordinator.answer(to: .ticket(number: ticket, day: day)).ticket
        try finish(followers, report)
        return report
      } catch {
        guard error.isLoss else { throw error }
        coordinator = try CoordinatorClient.reopen(session)
      }
    }
  }

  /// Passes on what is left of each stream, and prints notes about missing bytes.
  private func finish(
    _ followers: [(Stream, OutputFollower)], _ report: TicketReport
  ) throws(CommandError) {
    for (stream, follower) in followers {
      let lost = try follower.finish(report.receipt?.result.map(stream.kept))
      if lost > 0 { Self.printLoss(lost, of: report, stream, session) }
      if lost > 0 || report.receipt?.result == nil && follower.count == 0 { hasLost = true }
    }
  }

  /// Prints that `lost` bytes of a stream are missing, and the reason.
  private static func printLoss(_ lost: Int64, of report: TicketReport, _ stream: Stream, _ session: Session)
  {
    let filed = report.receipt?.result.map(stream.kept)?.filed ?? 0
    let path = path(session.home.path, day: report.day, ticket: report.ticket, stream)
    let isThere = ((try? FileMetadata.inspect(path)) ?? nil) != nil
    session.note(session.messages.outputNotStored(lost, filed == 0 ? .noFile : isThere ? .bounds : .fileGone))
  }

  /// The follower that prints a stream: to standard output, but errors to standard error if both `streams` are printed.
  private func follower(_ stream: Stream, of streams: [Stream]) -> OutputFollower {
    let session = session
    return OutputFollower(
      Self.path(session.home.path, day: day, ticket: ticket, stream),
      onNewAttempt: { session.note(session.messages.newAttempt) },
      to: { bytes throws(CommandError) in
        // A single requested stream goes to standard output, whichever it is.
        if stream == .output || streams.count == 1 {
          try session.output.write(bytes)
        } else {
          _ = try fromSystem(StandardStreams.write(Array(bytes), to: .error))
        }
      })
  }

  /// Message about an output file that was deleted because of its age; nil otherwise.
  private static func removed(_ report: TicketReport, _ stream: Stream, _ session: Session) -> String? {
    let home = session.home.path
    guard let receipt = report.receipt, let kept = receipt.result.map(stream.kept), kept.filed > 0,
      (try? FileMetadata.inspect(path(home, day: report.day, ticket: report.ticket, stream))) == nil,
      let horizon = OutputMarkerFile.read(OutputMarkerFile.path(in: home)),
      receipt.startedAt ?? receipt.finishedAt < horizon.milliseconds
    else { return nil }
    return session.messages.outputRemoved(report.ticket, day: session.invocation.integer("day"))
  }

  /// Prints the output of a stream that is available now. Returns true if the printed output is complete.
  static func show(
    _ report: TicketReport, _ stream: Stream, _ session: Session
  ) throws(CommandError) -> Bool {
    let follower = OutputFollower(path(session.home.path, day: report.day, ticket: report.ticket, stream)) {
      bytes throws(CommandError) in try session.output.write(bytes)
    }
    if let messages = removed(report, stream, session) { throw .commandFailure(.outputRemoved, messages) }
    let lost = try follower.finish(report.receipt?.result.map(stream.kept))
    try session.output.flush()
    if lost > 0 { printLoss(lost, of: report, stream, session) }
    return lost == 0 && (report.receipt?.result != nil || follower.count > 0)
  }
}
