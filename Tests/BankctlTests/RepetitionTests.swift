// Commands whose coordinator is lost in the middle: a read continues where it was, a repeatable request is
// repeated, and any other is reported as unknown.
import BankModel
import ControlClient
import Glibc
import Posix
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("A coordinator lost in the middle")
struct RepetitionTests {
  private func with(
    _ script: @escaping @Sendable (ControlCommand, Int) -> [FakeBranch.Step],
    _ test: (FakeBranch) throws -> Void
  ) throws {
    let branch = try FakeBranch(script)
    defer { branch.end() }
    try test(branch)
  }

  @Test("a request that may be done twice is sent again")
  func repeated() throws {
    for messages in [
      ["status"], ["pause"], ["resume", "loan"], ["scale", "loan=2"], ["reload"], ["reset"],
    ] {
      try with({ _, conversation in conversation == 1 ? [.hangUp] : [.answer(.status(picture()))] }) {
        branch throws in
        let ran = try run(messages, home: branch.home)
        #expect(ran.exit == .done, "\(messages): \(ran.output)")
      }
    }
  }

  @Test("a coordinator that is lost after a long silence is asked again like any other")
  func lostAfterSilence() throws {
    try with({ _, conversation in conversation == 1 ? [.hangUp] : [.answer(.status(picture()))] }) { branch in
      var rounds = 0
      guard case .run(let invocation) = try BankctlTable.table.parse(["status"]) else { return }
      let session = Session(
        invocation: invocation, messages: MessageCatalog(language: .english), home: branch.home,
        environment: .actual,
        asJSON: false, output: Output(isTerminal: false, palette: .none) { _ in .written })
      let report = try CoordinatorClient.withOpenBank(session, within: .milliseconds(50)) {
        (client) throws(CommandError) -> StatusReport in
        rounds += 1
        // Longer than a lost one may take to come back.
        if rounds == 1 { _ = poll(nil, 0, 60) }
        return try client.status(.status)
      }
      #expect(report == picture() && rounds == 2)
    }
  }

  @Test("a reset is repeated for its own day, and one that was done is reported as done")
  func reset() throws {
    var after = picture(waiting: 0, serving: 0, served: 0)
    after.day = 2
    let late = after
    try with({ command, conversation in
      switch (command, conversation) {
      case (.reset, 2): [.hangUp]
      case (.reset, _): [.answer(.failure(Failure(.wrongState, detail: "it is day 2")))]
      case (_, 1): [.answer(.status(picture()))]
      default: [.answer(.status(late))]
      }
    }) { branch throws in
      let ran = try run(["reset"], home: branch.home)
      #expect(ran.exit == .done && ran.output.contains("day 2"), "\(ran.output)")
      #expect(branch.heard == [.status, .reset(day: 1), .reset(day: 1), .status])
    }
  }

  @Test("a list of receipts continues after the last one that was printed")
  func receipts() throws {
    try with({ command, conversation in
      conversation == 1
        ? [.more(.receipts([receipt(1), receipt(2)])), .hangUp] : [.answer(.receipts([receipt(3)]))]
    }) { branch throws in
      let ran = try run(["receipts", "--json"], home: branch.home)
      #expect(ran.exit == .done && ran.lines.count == 3, "\(ran.output)")
      #expect(branch.heard.last == .receipts(ReceiptQuery(days: .day(1), follow: false, after: 2)))
    }
  }

  @Test(
    "the lists of customers are printed once, whichever coordinator sends the rest", arguments: [true, false])
  func tickets(asJSON: Bool) throws {
    var first = waiting(1)
    first.state = .serving
    let served = first
    let lines = [waiting(2), waiting(3), waiting(4, service: .loan)]
    try with({ command, conversation in
      let isWaiting = command == .tickets(TicketQuery(state: .waiting)) || command == .tickets(TicketQuery())
      switch (command, conversation) {
      case (.tickets(TicketQuery(state: .serving)), 1): return [.answer(.tickets([served]))]
      case (.tickets, 1) where isWaiting:
        return [.more(.tickets(asJSON ? [served] : [])), .more(.tickets([lines[0]])), .hangUp]
      case (.tickets, _) where isWaiting:
        // No customer is at a window any more: this one waits again, at the head of the line.
        return [.more(.tickets([waiting(1)] + lines)), .answer(.tickets([]))]
      default: return [.answer(.tickets([]))]
      }
    }) { branch throws in
      let ran = try run(["tickets"] + (asJSON ? ["--json"] : []), home: branch.home)
      #expect(ran.exit == .done)
      let numbers = ran.lines.filter { asJSON || $0.hasPrefix("  ") && $0 != "  none" }
      #expect(numbers.count == 4, "\(ran.output)")
    }
  }

  @Test("a request for tickets without a key is reported as unknown, and with one it is repeated")
  func enqueue() throws {
    let report = EnqueuedReport(day: 1, first: 1, last: 1, count: 1)
    for key in [[], ["--key", "k"]] {
      try with({ _, conversation in conversation == 1 ? [.hangUp] : [.answer(.enqueued(report))] }) {
        branch throws in
        let ran = try run(["enqueue", "1", "--json"] + key, home: branch.home)
        #expect(ran.exit == (key.isEmpty ? .failed : .done), "\(ran.output)")
        #expect(ran.output.contains("not known whether") == key.isEmpty)
      }
    }
  }

  @Test("a list that did not reach the coordinator whole has added no customer, and is sent again")
  func listInParts() throws {
    let path = "/tmp/bank-list-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    defer { unlink(path) }
    let lines = Int64(200_000)
    let report = EnqueuedReport(day: 1, first: 1, last: lines, count: lines)
    // This number does not fit into the socket: a peer that hangs up at the first part has not got the last
    // one.
    let list = String(repeating: "{\"service\":\"deposit\"}\n", count: Int(lines))
    try FileDescriptor.open(path, [.writeOnly, .create]).writeAll(Array(list.utf8))
    try with({ command, conversation in
      guard case .enqueueList(let part) = command, conversation > 1 else { return [.hangUp] }
      return part.isLast ? [.answer(.enqueued(report))] : []
    }) { branch throws in
      let ran = try run(["enqueue", "--from", path, "--json"], home: branch.home)
      #expect(ran.exit == .done, "\(ran.output)")
      #expect(branch.heard.count == 1 + 100)
    }
  }

  @Test("a bank that closes during a question is reported as not open")
  func closed() throws {
    for messages in [["status"], ["pause"], ["scale", "loan=2"], ["stop"], ["cancel", "1"]] {
      try with({ _, _ in [.close] }) { branch throws in
        let ran = try run(messages + ["--json"], home: branch.home)
        #expect(ran.exit == .notOpen && ran.output.contains("not_open"), "\(messages): \(ran.output)")
      }
    }
  }

  @Test("the last message of a bank that has closed sends the reader to the closed database")
  func lastWord() throws {
    try with({ _, conversation in
      conversation == 1 ? [.answer(.failure(Failure(.notOpen)))] : [.answer(.ledger([]))]
    }) { branch throws in
      #expect(try run(["ledger"], home: branch.home).exit == .done)
    }
  }

  @Test("a long operation shows its duration or progress, and nothing in the first second")
  func taskProgress() {
    final class Clock { var now = MonotonicTime(nanoseconds: 0) }
    let clock = Clock()
    var written: [String] = []
    let messages = MessageCatalog(language: .english)
    let task = TaskProgress(
      .audit, messages,
      ProgressMeter(
        messages: messages, isTerminal: false, columns: 80, now: { clock.now }, write: { written.append($0) })
    )
    task.pass()
    clock.now += .milliseconds(3_200)
    task.pass()
    clock.now += .seconds(6)
    task.handle(ProgressReport(phase: .resetting, done: 1, total: 4))
    #expect(written == ["auditing · 3 s\n", "cancelling all customers 25% 1/4\n"])
  }
}
