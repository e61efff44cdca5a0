// `run`: sends a command line as a customer, and waits for it with `--wait`.
// Invariant: a worker of the bank starts the command. This program may exit while the command runs. A waiting
// client prints the output and exits with the exit code of the command.

import Arguments
import BankModel
import Glibc
import Posix
import Wire

/// Implementation of `bankctl run`.
enum RunCommand {
  /// Adds a customer with the command line, and waits for it with `--wait`. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let service =
      try session.invocation.text("service").map { name throws(CommandError) in
        try session.service(named: name)
      } ?? BankctlTable.commandLines
    var line = try commandLine(session)
    line.isWaited = session.invocation.flag("wait")
    let payload = line.bytes
    guard payload.count <= Limits.payloadLength else {
      throw .usage(
        session.messages.commandLineTooLong(payload.count, line, limit: Int64(Limits.payloadLength)))
    }
    // The key prevents a second customer if the request is repeated after a lost connection.
    let key = "run-" + String(RandomSeed.fromSystem(), radix: 36) + String(RandomSeed.fromSystem(), radix: 36)
    let order = EnqueueParameters(
      count: 1, service: service, priority: EnqueueCommand.priority(session.invocation), amount: nil,
      account: nil, seed: 0,
      key: key, payload: payload, isCommandLine: true)
    let (report, coordinator) = try issue(order, line, session)
    let (day, number) = (report.day, report.first)
    noteUnreadInput(session)
    guard session.invocation.flag("wait") else {
      try session.show(
        ["version": 1, "day": .init(day), "ticket": .init(number)],
        or: [session.messages.commandEnqueued(number)])
      return .done
    }
    let wait = try InterruptibleWait()
    // Ends this program if a signal was received.
    defer { wait.end() }
    let watch = OutputStreamer(day: day, ticket: number, session, coordinator, wait)
    guard let ticket = try watch.streamUntilEnd(streams: session.asJSON ? [] : [.output, .errors]) else {
      session.note(session.messages.commandContinues(number))
      return .failed
    }
    if session.asJSON { try session.show(.ticket(ticket), or: []) }
    try session.output.flush()
    if watch.hasLost, let server = OutputOwnerBranch.branch(of: ticket, watch.coordinator) {
      session.note(session.messages.outputElsewhere(number, server))
    }
    return end(of: ticket, session)
  }

  /// The command line, with standard input for `--stdin`.
  private static func commandLine(_ session: Session) throws(CommandError) -> CommandLinePayload {
    var line: CommandLinePayload
    do throws(SystemError) {
      line = try CommandLinePayload(session.invocation.operands.texts("COMMAND"), Environment.all())
    } catch {
      throw error.isMissing
        ? .commandFailure(.noWorkingDirectory, session.messages.presentDirectoryGone) : .system(error)
    }
    if session.invocation.flag("stdin") { line.input = try PayloadSource.standardInput(session) }
    return line
  }

  /// Requests the ticket of the command line. If the payload is too long for the bank, the error lists the sizes of its
  /// parts, because the environment is usually the largest part.
  private static func issue(
    _ order: EnqueueParameters, _ line: CommandLinePayload, _ session: Session
  ) throws(CommandError) -> (EnqueuedReport, CoordinatorClient) {
    do throws(CommandError) {
      return try EnqueueCommand.issue(order, at: CoordinatorClient.open(session), session)
    } catch {
      guard case .failure(let failure) = error, let messageDetail = failure.messageDetail,
        messageDetail.kind == .payloadTooLarge,
        let limit = messageDetail.values.first.flatMap({ Int64($0) })
      else { throw error }
      throw .usage(session.messages.commandLineTooLong(line.bytes.count, line, limit: limit))
    }
  }

  /// Prints a note about unread standard input, because a user who pipes data in expects that it is read.
  private static func noteUnreadInput(_ session: Session) {
    guard !session.invocation.flag("stdin"), StandardStreams.hasUnreadInput else { return }
    session.note(session.messages.inputIsNotRead)
  }

  /// Exit code of the command, or 128 plus the signal number if the command was killed, as in a shell. Prints a note if
  /// the customer was not served.
  private static func end(of ticket: TicketReport, _ session: Session) -> ProgramExit {
    let isServed = ticket.receipt?.outcome == .served
    let last = ticket.attempts.last
    let ending =
      isServed
      ? ticket.receipt?.result?.ending : last.flatMap { ProcessEnd(code: $0.code, signal: $0.signal) }
    if ticket.receipt?.outcome == .cancelled {
      session.note(session.messages.commandCancelled(ticket.ticket))
    } else if !isServed {
      session.note(session.messages.commandDeadLettered(ticket.ticket, last?.words ?? ""))
    }
    var code =
      switch ending {
      case .code(let code): code
      case .signal(let signal): 128 + signal
      case nil: Int32(0)
      }
    // If the customer was not served, the exit code is not 0.
    if !isServed, code == 0 { code = ProgramExit.failed.rawValue }
    guard let known = ProgramExit(rawValue: code) else { exit(code) }
    return known
  }
}
