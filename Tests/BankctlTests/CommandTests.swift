// The commands against a coordinator of the test: their requests, their output, their ends.
import Arguments
import BankModel
import ControlClient
import Glibc
import Posix
import Synchronization
import Testing
import Wire

@testable import BankctlCommands

/// A coordinator for the duration of a test.
private func with(
  _ script: @escaping @Sendable (ControlCommand, Int) -> [FakeBranch.Step],
  _ body: (FakeBranch) throws -> Void
) throws {
  let branch = try FakeBranch(script)
  defer { branch.end() }
  try body(branch)
}

private let report = EnqueuedReport(day: 1, first: 1, last: 10, count: 10)

@Test("a bank that is not open is exit code 3, in JSON with its code")
func notOpen() throws {
  let home = BankHome(path: "/tmp/no-such-bank-\(RandomSeed.fromSystem())")
  for words in [
    ["status"], ["enqueue", "1"], ["wait"], ["pause"], ["scale", "loan=1"], ["reset"], ["stop"],
  ] {
    #expect(try run(words, home: home).exit == .notOpen)
    let ran = try run(words + ["--json"], home: home)
    #expect(ran.output.hasPrefix(#"{"version":1,"error":{"code":"not_open","message":"#))
    #expect(ran.lines.count == 1)
  }
}

@Test("status prints the document or the screen")
func status() throws {
  try with({ _, _ in [.answer(.status(picture()))] }) { branch throws in
    #expect(
      try run(["status", "--json"], home: branch.home)
        == CommandRun(exit: .done, output: JSONValue.status(picture()).text + "\n"))
    #expect(try run(["status"], home: branch.home, language: .korean).lines[0].hasPrefix("영업 중"))
  }
}

@Test("watching prints each change once, and ends quietly when the bank closes")
func watch() throws {
  try with({ _, _ in
    [
      .more(.status(picture())), .more(.status(picture())), .more(.status(picture(waiting: 2))),
      .more(.status(picture(state: .draining, waiting: 0))), .hangUp,
    ]
  }) { branch throws in
    #expect(try run(["status", "--watch"], home: branch.home).lines.count == 3)
    #expect(try run(["status", "--watch", "--json"], home: branch.home).lines.count == 3)
  }
}

@Test("enqueue requests what was given and leaves the rest to chance")
func enqueue() throws {
  try with({ _, _ in
    [.more(.progress(.init(phase: .enqueuing, done: 1, total: 2))), .answer(.enqueued(report))]
  }) {
    branch throws in
    let ran = try run(
      [
        "enqueue", "10", "--service", "예금", "--grade=vip", "--amount", "5", "--account", "6", "--seed", "-1",
        "--key", "k", "--json",
      ], home: branch.home)
    #expect(
      ran
        == CommandRun(
          exit: .done, output: #"{"version":1,"day":1,"first":1,"last":10,"count":10,"known":false}"# + "\n"))
    #expect(try run(["enqueue", "10", "--seed", "5"], home: branch.home).exit == .done)
    #expect(
      branch.heard == [
        .enqueue(
          EnqueueParameters(
            count: 10, service: .deposit, priority: .vip, amount: 5, account: 6, seed: .max, key: "k",
            hasExplicitSeed: true)),
        .enqueue(
          EnqueueParameters(
            count: 10, service: nil, priority: .regular, amount: nil, account: nil, seed: 5, key: nil)),
      ])
  }
}

@Test("a list comes in parts, and its answer contains the number of known customers")
func list() throws {
  let path = "/tmp/bank-list-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
  let file = try FileDescriptor.open(path, [.writeOnly, .create])
  try file.writeAll(Array(String(repeating: #"{"service":"loan"}"# + "\n", count: 2_001).utf8))
  try file.close()
  defer { unlink(path) }
  let list = EnqueuedReport(
    day: 1, first: 1, last: 2_001, count: 2_001, known: 3,
    alreadyIssuedTickets: [TicketSpan(day: 1, first: 4, last: 6)])
  try with({ command, _ in
    if case .enqueueList(let part) = command, part.isLast { [.answer(.enqueued(list))] } else { [] }
  }) { branch throws in
    let ran = try run(["enqueue", "--from", path, "--json"], home: branch.home)
    #expect(
      ran.output
        == #"{"version":1,"day":1,"first":1,"last":2001,"count":2001,"known":false,"already_issued_count":3,"#
        + #""already_issued":[{"day":1,"first":4,"last":6}]}"# + "\n")
    let sizes = branch.heard.map { if case .enqueueList(let part) = $0 { part.entries.count } else { 0 } }
    #expect(sizes == [2_000, 1])
    let missing = try run(["enqueue", "--from", path + ".not", "--json"], home: branch.home)
    #expect(missing.exit == .failed && missing.output.contains("ENOENT"))
  }
}

@Test("a full queue is exit code 75")
func full() throws {
  try with({ _, _ in [.answer(.failure(Failure(.queueFull, subject: "5")))] }) { branch throws in
    let ran = try run(["enqueue", "10", "--json"], home: branch.home)
    #expect(ran.exit == .later && ran.output.contains(#""code":"queue_full""#))
  }
}

@Test("a coordinator lost before its answer leaves it unknown whether there are tickets")
func lostBefore() throws {
  try with({ _, _ in [.hangUp] }) { branch throws in
    let ran = try run(["enqueue", "10", "--json"], home: branch.home)
    #expect(ran.exit == .failed && ran.output.contains(#""code":"connection_lost""#))
    #expect(ran.output.contains("--key"))
    #expect(branch.heard.count == 1)
  }
}

@Test("with a key the request is sent again after a loss")
func keyed() throws {
  try with({ _, conversation in conversation < 3 ? [.hangUp] : [.answer(.enqueued(report))] }) {
    branch throws in
    #expect(try run(["enqueue", "10", "--key", "k"], home: branch.home).exit == .done)
    #expect(branch.heard.count == 3 && Set(branch.heard.map { "\($0)" }).count == 1)
  }
}

@Test(
  "enqueue --wait asks again after a loss, and dead or cancelled customers set its exit code",
  arguments: [(0, nil), (2, nil), (0, 3), (1, 1)] as [(Int64, Int64?)])
func enqueueAndWait(dead: Int64, cancelled: Int64?) throws {
  try with({ command, conversation in
    switch command {
    case .enqueue: [.answer(.enqueued(report))]
    case .awaitTickets:
      conversation == 1
        ? [.hangUp] : [.answer(.ended(AwaitedTicketsReport(dead: dead, cancelled: cancelled)))]
    default: []
    }
  }) { branch throws in
    let ran = try run(["enqueue", "10", "--wait", "--json"], home: branch.home)
    #expect(ran.exit == (dead == 0 && cancelled == nil ? .done : .failed))
    #expect(
      ran.output
        == #"{"version":1,"day":1,"first":1,"last":10,"count":10,"known":false,"dead":"#
        + "\(dead),\"cancelled\":\(cancelled ?? 0)}\n")
    #expect(branch.heard.suffix(2).allSatisfy { $0 == .awaitTickets(day: 1, first: 1, last: 10) })
  }
}

@Test("wait ends after its timeout with exit code 75")
func wait() throws {
  try with({ _, _ in [] }) { branch throws in
    let ran = try run(["wait", "--timeout", "30ms", "--json"], home: branch.home)
    #expect(ran.exit == .later && ran.output.contains(#""code":"timed_out""#))
  }
  try with({ _, conversation in conversation == 1 ? [.hangUp] : [.answer(.status(picture(waiting: 0)))] }) {
    branch throws in
    #expect(try run(["wait", "--timeout", "10s"], home: branch.home).exit == .done)
    #expect(branch.heard == [.awaitIdle, .awaitIdle])
  }
}

@Test("a long wait watches the bank, and a short one does not")
func longWait() throws {
  let asked = Mutex(0)
  try with({ command, _ in
    guard command == .watch else { return [] }
    asked.withLock { $0 += 1 }
    return [.more(.status(picture(waiting: 7, serving: 0)))]
  }) { branch throws in
    let ran = try run(["wait", "--timeout", "1200ms"], home: branch.home)
    #expect(ran.exit == .later && branch.heard == [.awaitIdle, .watch])
  }
}

@Test("commands that steer the bank send the given requests")
func steering() throws {
  try with({ _, _ in [.answer(.status(picture()))] }) { branch throws in
    for words in [
      ["pause"], ["pause", "loan"], ["resume", "예금"], ["scale", "deposit=3", "대출=0"], ["reload"],
    ] {
      #expect(
        try run(words + ["--json"], home: branch.home).output == JSONValue.status(picture()).text + "\n")
      #expect(try run(words, home: branch.home).exit == .done)
    }
    let scale = ControlCommand.scale([
      ServiceWindows(service: .deposit, count: 3), ServiceWindows(service: .loan, count: 0),
    ])
    // The state before a reload is read before it is requested.
    let expected: [[ControlCommand]] = [
      [.pause(nil)], [.pause(.loan)], [.resume(.deposit)], [scale], [.status, .reload],
    ]
    #expect(branch.heard == expected.flatMap { $0 + $0 })
  }
}

@Test("a service that does not exist is exit code 4 with a suggestion")
func noSuchService() throws {
  let unknown = Failure(
    .noSuchService, subject: "depsit", messageDetail: MessageDetail(.servicesAre, "deposit, loan, juice"))
  try with({ _, _ in [.answer(.failure(unknown))] }) { branch throws in
    for words in [["scale", "depsit=3"], ["pause", "depsit"], ["resume", "depsit"]] {
      let ran = try run(words + ["--json"], home: branch.home)
      #expect(ran.exit == .notFound && ran.output.contains("Did you mean deposit?"))
    }
    let asked = branch.heard.count
    #expect(try run(["scale", "loan=1", "loan=2"], home: branch.home).exit == .usage)
    #expect(branch.heard.count == asked)
  }
}

@Test("an account that was never used is exit code 4, and not zero won")
func noSuchAccount() throws {
  @Sendable func row(_ transfers: Int64) -> ControlAnswer {
    .account(
      AccountReport(
        row: LedgerRow(account: "customer-7", debit: 0, credit: 0, transfers: transfers), latest: []))
  }
  try with({ command, _ in [.answer(row(command == .account(7) ? 2 : 0))] }) { branch throws in
    #expect(try run(["account", "7"], home: branch.home).exit == .done)
    let ran = try run(["account", "999", "--json"], home: branch.home)
    #expect(ran.exit == .notFound && ran.output.contains(#""code":"no_such_account""#))
    #expect(!ran.output.contains("balance"))
  }
}

@Test("stop waits for the end of the process and prints the closing message last")
func stop() throws {
  let stopped = StoppedReport(
    day: 1, served: 10, businessMilliseconds: 4_410, waiting: 0, dead: 0, isDayClosed: true)
  try with({ _, _ in
    [.more(.progress(.init(phase: .serving, done: 1, total: 2))), .answer(.stopped(stopped)), .hangUp]
  }) { branch throws in
    #expect(
      try run(["stop", "--timeout", "1.5s"], home: branch.home, language: .korean)
        == CommandRun(exit: .done, output: "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 4.41초입니다.\n"))
    #expect(
      try run(["stop", "--now", "--json"], home: branch.home).output == JSONValue.stopped(stopped).text + "\n"
    )
    #expect(
      branch.heard == [
        .stop(StopParameters(now: false, timeoutMilliseconds: 1_500)),
        .stop(StopParameters(now: true, timeoutMilliseconds: nil)),
      ])
  }
}

@Test("tickets prints the two lists with the labels of the original screen, over pages")
func tickets() throws {
  var served = waiting(3, service: .loan, priority: .vip)
  served.state = .serving
  served.window = "loan-1"
  let serving = served
  try with({ command, _ in
    switch command {
    case .tickets(TicketQuery()): [.more(.tickets([waiting(7)])), .answer(.tickets([serving]))]
    case .tickets(TicketQuery(state: .waiting)):
      [.more(.tickets([waiting(7)])), .answer(.tickets([waiting(8, service: .loan)]))]
    case .tickets(TicketQuery(state: .serving)): [.answer(.tickets([serving]))]
    default: [.answer(.tickets([]))]
    }
  }) { branch throws in
    #expect(
      try run(["tickets"], home: branch.home, language: .korean).lines
        == ["대기중", "  7 - 예금", "  8 - 대출", "업무중", "  3 - 대출 VIP loan-1"])
    #expect(
      try run(["tickets", "--state", "dead"], home: branch.home, language: .korean).lines == ["보류", "  없음"])
    let lines = try run(["tickets", "--json"], home: branch.home).lines
    #expect(lines == [JSONValue.listed(waiting(7)).text, JSONValue.listed(serving).text])
  }
}

@Test("a ticket's history is in the order of time; one that does not exist is exit code 4")
func ticket() throws {
  var done = waiting(7, service: .loan)
  done.state = .done
  done.attempts = [
    AttemptReport(
      window: "loan-1", generation: 1, pid: 42, startedAt: 1_795_248_000_050, endedAt: 1_795_248_000_060,
      end: .killed, signal: 9, code: nil)
  ]
  done.receipt = receipt(7)
  let timeline = done
  try with({ command, _ in
    command == .ticket(number: 7, day: 2)
      ? [.answer(.ticket(timeline))] : [.answer(.failure(Failure(.noSuchTicket, subject: "8")))]
  }) { branch throws in
    let lines = try run(["ticket", "7", "--day", "2"], home: branch.home).lines
    #expect(lines.count == 6)
    #expect(lines.dropFirst(2) == lines.dropFirst(2).sorted()[...])
    #expect(lines[4].contains("SIGKILL") && lines[5].hasSuffix("receipt: served, loans → customer-12"))
    #expect(try run(["ticket", "8"], home: branch.home).exit == .notFound)
    #expect(
      try run(["ticket", "7", "--day", "2", "--json"], home: branch.home).output == JSONValue.ticket(timeline)
        .text + "\n")
  }
}

@Test("cancel and requeue answer with the ticket, and dead letters with their number")
func cancelAndRequeue() throws {
  try with({ command, _ in
    switch command {
    case .status: [.answer(.status(picture()))]
    case .requeueDead: [.answer(.requeued(3))]
    case .cancel(9, _): [.answer(.failure(Failure(.wrongState, subject: "9 serving")))]
    default: [.answer(.ticket(waiting(7)))]
    }
  }) { branch throws in
    #expect(
      try run(["cancel", "7", "--json"], home: branch.home).output == JSONValue.ticket(waiting(7)).text + "\n"
    )
    #expect(try run(["cancel", "9"], home: branch.home).exit == .refused)
    #expect(try run(["requeue", "7"], home: branch.home).exit == .done)
    #expect(try run(["cancel", "7", "--day", "2"], home: branch.home).exit == .done)
    #expect(try run(["requeue", "7", "--day", "2"], home: branch.home).exit == .done)
    #expect(throws: UsageError.self) { try run(["requeue", "--dead", "--day", "2"], home: branch.home) }
    #expect(
      try run(["requeue", "--dead", "--json"], home: branch.home).output == "{\"version\":1,\"requeued\":3}\n"
    )
    #expect(
      branch.heard == [
        .status, .cancel(7, day: 1), .status, .cancel(9, day: 1), .status, .requeue(7, day: 1),
        .cancel(7, day: 2), .requeue(7, day: 2), .requeueDead,
      ])
  }
}

@Test("receipts are lines over pages, of the requested days")
func receipts() throws {
  try with({ _, _ in [.more(.receipts([receipt(1)])), .answer(.receipts([receipt(2)]))] }) { branch throws in
    let lines = try run(["receipts", "--json"], home: branch.home).lines
    #expect(lines == [JSONValue.receipt(receipt(1)).text, JSONValue.receipt(receipt(2)).text])
    #expect(try run(["receipts", "--day", "all"], home: branch.home).lines.count == 2)
    #expect(try run(["receipts", "--day", "2"], home: branch.home).exit == .done)
    #expect(
      branch.heard == [.present, .all, .day(2)].map { .receipts(ReceiptQuery(days: $0, follow: false)) })
  }
}

@Test("a follower sees every receipt once in spite of the loss of the coordinator")
func follow() throws {
  try with({ command, conversation in
    conversation == 1
      ? [.more(.receipts([receipt(1), receipt(2)])), .hangUp]
      : [.more(.receipts([receipt(3)])), .answer(.receipts([]))]
  }) { branch throws in
    #expect(try run(["receipts", "--follow", "--json"], home: branch.home).lines.count == 3)
    #expect(
      branch.heard == [
        .receipts(ReceiptQuery(days: .present, follow: true)),
        .receipts(ReceiptQuery(days: .all, follow: true, after: 2)),
      ])
  }
}

@Test("a follower of a shared bank continues after the last receipt of each branch")
func followBranches() throws {
  func told(_ sequence: Int64, by branch: Int64, _ commit: Int64) -> ReceiptReport {
    var report = receipt(sequence)
    (report.branch, report.epoch, report.commit) = (branch, 4, commit)
    return report
  }
  let pages = [[told(5, by: 1, 9), told(2, by: 2, 1)], [told(6, by: 1, 9), told(1, by: 1, 10)]]
  let last = [told(3, by: 2, 2)]
  try with({ command, conversation in
    conversation == 1
      ? pages.map { .more(.receipts($0)) } + [.hangUp] : [.more(.receipts(last)), .answer(.receipts([]))]
  }) { branch throws in
    #expect(try run(["receipts", "--follow", "--json"], home: branch.home).lines.count == 5)
    var resumed = ReceiptQuery(days: .day(1), follow: true)
    resumed.positions = [
      ReceiptPosition(branch: 1, epoch: 4, commit: 10, ticket: 1),
      ReceiptPosition(branch: 2, epoch: 4, commit: 1, ticket: 2),
    ]
    #expect(
      branch.heard == [.receipts(ReceiptQuery(days: .present, follow: true)), .receipts(resumed)])
  }
}

@Test("audit reports findings by its exit code")
func audit() throws {
  let clean = AuditReport(
    issued: 1, served: 1, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 0, duplicated: 0,
    ledgerDifference: 0, problems: [])
  var broken = clean
  broken.problems = ["ticket 7 stands nowhere"]
  let bad = broken
  try with({ _, conversation in [.answer(.audit(conversation == 1 ? clean : bad))] }) { branch throws in
    #expect(try run(["audit", "--json"], home: branch.home).exit == .done)
    let ran = try run(["audit"], home: branch.home)
    #expect(ran.exit == .failed && ran.lines.last == "- ticket 7 stands nowhere")
  }
}

@Test("an answer to another question is an error, and a missing reader is none")
func oddAnswers() throws {
  try with({ _, _ in [.answer(.requeued(1))] }) { branch throws in
    let ran = try run(["status", "--json"], home: branch.home)
    #expect(ran.exit == .failed && ran.output.contains(#""code":"unexpected_response""#))
  }
  let output = Output(isTerminal: false, palette: .none) { _ throws(SystemError) in .readerGone }
  #expect(throws: CommandError.readerGone) {
    try output.line("x")
    try output.flush()
  }
  #expect(Program.report(.readerGone, MessageCatalog(language: .english), "", true, output) == .done)
}
