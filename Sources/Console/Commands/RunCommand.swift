// Owns `run`: a command line becomes a customer, and is waited for where that is asked.
// Invariant: the command is started by the bank and not by this program, which may end meanwhile; whoever waits sees what it
// writes, and ends with its code.

import Arguments
import BankModel
import Glibc
import Posix
import Wire

enum RunCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let service =
      try session.invocation.text("service").map { name throws(CommandError) in
        try session.service(named: name)
      } ?? BankctlTable.commandLines
    var line = try fromSystem(
      CommandLinePayload(session.invocation.operands.texts("COMMAND"), Environment.all()))
    line.isWaited = session.invocation.flag("wait")
    let payload = line.bytes
    guard payload.count <= Limits.payloadLength else {
      throw .usage(session.words.commandLineTooLong(payload.count))
    }
    // Sent again after a lost connection it adds nobody twice.
    let key = "run-" + String(RandomSeed.fromSystem(), radix: 36) + String(RandomSeed.fromSystem(), radix: 36)
    let order = EnqueueOrder(
      count: 1, service: service, priority: EnqueueCommand.priority(session.invocation), amount: nil,
      account: nil, seed: 0,
      key: key, payload: payload, isCommandLine: true)
    let (report, coordinator) = try EnqueueCommand.issue(order, at: CoordinatorClient.open(session), session)
    let (day, number) = (report.day, report.first)
    guard session.invocation.flag("wait") else {
      try session.show(
        ["version": 1, "day": .init(day), "ticket": .init(number)], or: [session.words.commandTaken(number)])
      return .done
    }
    let wait = try InterruptibleWait()
    // Ends this program here where a signal has come, and everything was said by then.
    defer { wait.end() }
    let watch = OutputWatch(day: day, ticket: number, session, coordinator, wait)
    guard let ticket = try watch.untilItEnds(streams: session.asJSON ? [] : [.output, .errors]) else {
      session.note(session.words.commandGoesOn(number))
      return .failed
    }
    if session.asJSON { try session.show(.ticket(ticket), or: []) }
    try session.output.flush()
    return end(of: ticket, session)
  }

  /// The command's own code; 128 and the signal's number where it was killed, as a shell has it.
  private static func end(of ticket: TicketReport, _ session: Session) -> ProgramExit {
    let isServed = ticket.receipt?.outcome == .served
    let last = ticket.attempts.last
    let ending =
      isServed
      ? ticket.receipt?.result?.ending : last.flatMap { ProcessEnd(code: $0.code, signal: $0.signal) }
    if ticket.receipt?.outcome == .cancelled {
      session.note(session.words.commandCancelled(ticket.ticket))
    } else if !isServed {
      session.note(session.words.commandPutAside(ticket.ticket, last?.words ?? ""))
    }
    var code =
      switch ending {
      case .code(let code): code
      case .signal(let signal): 128 + signal
      case nil: Int32(0)
      }
    // Whatever the command ended with, it was not done.
    if !isServed, code == 0 { code = ProgramExit.failed.rawValue }
    guard let known = ProgramExit(rawValue: code) else { exit(code) }
    return known
  }
}
