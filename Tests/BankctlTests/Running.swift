// Runs a command of bankctl within the test, on a home, with its output captured.
import Arguments
import BankModel
import ControlClient
import Posix
import Time
import Wire

@testable import BankctlCommands

/// Result of a command.
struct CommandRun: Equatable {
  var exit: ProgramExit
  var output: String

  var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }
}

/// Runs a line such as `enqueue 10 --json`.
func run(
  _ arguments: [String], home: BankHome, language: Language = .english, isTerminal: Bool = false,
  launcher: BankLauncher = BankLauncher(program: "/nonexistent/bankd")
) throws -> CommandRun {
  guard case .run(let invocation) = try BankctlTable.table.parse(arguments) else {
    return CommandRun(exit: .usage, output: "")
  }
  let caught = OutputBuffer()
  let output = Output(isTerminal: isTerminal, palette: .none) { bytes throws(SystemError) in
    caught.bytes += bytes
    return .written
  }
  let messages = MessageCatalog(language: language)
  var environment = ProcessEnvironment.actual
  environment.launcher = { () throws(ControlError) in launcher }
  let session = Session(
    invocation: invocation, messages: messages, home: home, environment: environment,
    asJSON: invocation.flag("json"), output: output)
  do throws(CommandError) {
    let exit = try Commands.run(session)
    try output.flush()
    return CommandRun(exit: exit, output: caught.text)
  } catch {
    let exit = Program.report(error, messages, home.path, session.asJSON, output)
    return CommandRun(exit: exit, output: caught.text)
  }
}

private final class OutputBuffer {
  var bytes: [UInt8] = []
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A snapshot of a bank.
func picture(
  state: BankState = .open, waiting: Int64 = 3, serving: Int64 = 3, served: Int64 = 4, business: Int64 = 4410
) -> StatusReport {
  StatusReport(
    state: state, day: 1, pid: 4242, generation: 1, since: 1_795_248_000_000, businessMilliseconds: business,
    queue: QueueReport(
      issued: waiting + serving + served, waiting: waiting, delayed: 0, serving: serving, served: served,
      dead: 0,
      cancelled: 0, oldestWaitMilliseconds: 812),
    services: [
      ServiceReport(service: .deposit, windows: 2, waiting: 1, serving: 2, served: 3, paused: false),
      ServiceReport(service: .loan, windows: 1, waiting: 2, serving: 1, served: 1, paused: true),
    ],
    workers: [
      WorkerReport(
        name: "deposit-1", role: .teller, service: .deposit, window: 1, pid: 4243, generation: 1,
        state: .serving,
        ticket: 7, restarts: 0, served: 2, residentKilobytes: 2900),
      WorkerReport(
        name: "loan-1", role: .teller, service: .loan, window: 1, pid: 0, generation: 2, state: .backoff,
        ticket: nil, restarts: 1, served: 1, residentKilobytes: 0),
    ])
}

func receipt(_ sequence: Int64, outcome: Outcome = .served) -> ReceiptReport {
  ReceiptReport(
    Receipt(
      sequence: sequence, day: 1, ticket: sequence, service: .loan, priority: .regular, outcome: outcome,
      window: outcome == .served ? Window(service: .loan, place: 1) : nil, generation: 1, pid: 5,
      attempts: outcome == .served ? 1 : 0, amount: 250_000, account: 12,
      issuedAt: WallTime(milliseconds: 1_795_248_000_000),
      startedAt: outcome == .served ? WallTime(milliseconds: 1_795_248_000_100) : nil,
      finishedAt: WallTime(milliseconds: 1_795_248_001_200)), ServiceDirectory())
}

func waiting(_ number: Int64, service: ServiceName = .deposit, priority: Priority = .regular) -> TicketReport
{
  TicketReport(
    day: 1, ticket: number, service: service, priority: priority, amount: 50_000, account: 12,
    issuedAt: 1_795_248_000_000, state: .waiting, position: 1, etaMilliseconds: 700)
}
