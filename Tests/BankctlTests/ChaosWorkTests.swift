// The check of the account of commands and workers: one flaw at a time is planted into their records and into
// the receipts, and exactly that one must be found.
import BankModel
import Testing
import Time
import Wire

@testable import BankctlCommands
@testable import bank_chaos

@Suite("The account of commands and workers in a chaos run")
struct ChaosWorkTests {
  private static let payloads: [[UInt8]] = [
    Array("first".utf8), [], [0, 255, 10, 13], [UInt8](repeating: 7, count: 20_000),
  ]
  private static let services = [
    ChaosServices.command, ChaosServices.worker, ChaosServices.outside, ChaosServices.command,
  ]

  private static func ticket(_ number: Int64) -> ChaosTicket { ChaosTicket(day: 1, number: number) }
  private static func key(_ number: Int64) -> String { "b5-1-\(number)" }

  /// Four customers, the second in two attempts.
  private func clean() -> ChaosCheckResult.Evidence {
    var evidence = ChaosCheckResult.Evidence()
    for (place, payload) in Self.payloads.enumerated() {
      let number = Int64(place) + 1
      let order = ChaosOrder(
        key: "order-\(number)", count: 1, service: Self.services[place], priority: .regular,
        amount: Self.services[place] == ChaosServices.command ? 700 : 0, account: number, payloadSent: payload
      )
      evidence.ledger.ask(order)
      evidence.ledger.acknowledge(key: order.key, AcknowledgedTickets(day: 1, first: number, last: number))
      let attempts: Int32 = number == 2 ? 2 : 1
      if attempts == 2 { evidence.work.lines.append(line(.begin, number, attempt: 1)) }
      evidence.work.lines += [
        line(.begin, number, attempt: attempts), line(.end, number, attempt: attempts),
      ]
      evidence.receipts.append(paper(order, number, attempts: attempts))
    }
    return evidence
  }

  private func line(
    _ phase: WorkLogEntry.Phase, _ number: Int64, attempt: Int32 = 1, key: String? = nil, at: Int64 = 12
  ) -> WorkLogEntry {
    WorkLogEntry(
      phase, .command, key: key ?? Self.key(number), ticket: Self.ticket(number), attempt: attempt, pid: 9,
      digest: WorkerBehaviour.digest(Self.payloads[min(Int(number) - 1, 3)]), at: at)
  }

  private func paper(
    _ order: ChaosOrder, _ number: Int64, attempts: Int32, outcome: Outcome = .served,
    result bytes: [UInt8]? = nil, code: Int32 = 0
  ) -> ReceiptReport {
    let whole = bytes ?? WorkerBehaviour.result(of: order.payloadSent ?? [])
    let isCommand = order.service == ChaosServices.command
    let output = TruncatedOutput(first: whole)?.cut(
      to: isCommand ? ChaosServices.commandResult : TruncatedOutput.longest)
    var report = ReceiptReport(
      Receipt(
        sequence: number, day: 1, ticket: number, service: .deposit, priority: order.priority,
        outcome: outcome, window: nil, generation: 1, pid: 5, attempts: attempts, amount: order.amount,
        account: order.account,
        issuedAt: WallTime(milliseconds: 1), startedAt: WallTime(milliseconds: number * 10),
        finishedAt: WallTime(milliseconds: number * 10 + 5),
        result: outcome == .served
          ? WorkResult(ending: isCommand ? .code(code) : nil, duration: .zero, output: output ?? .nothing)
          : nil),
      ServiceDirectory(), key: Self.key(number))
    let isMoved = outcome == .served && order.amount > 0
    (report.service, report.debit) = (order.service, isMoved ? "customer-\(order.account)" : nil)
    report.credit = isMoved ? "cash" : nil
    return report
  }

  private func expect(
    _ found: [ChaosViolation], sourceLocation: SourceLocation = #_sourceLocation,
    _ damage: (inout ChaosCheckResult.Evidence) -> Void
  ) {
    var evidence = clean()
    damage(&evidence)
    #expect(ChaosCheckResult(evidence).violations == found, sourceLocation: sourceLocation)
  }

  @Test("clean evidence has no deviation, also with a cut result and a key that was not reported")
  func nothing() {
    expect([]) { _ in }
    expect([]) { $0.receipts[0].key = nil }
    #expect(ChaosCheckResult(clean()).attempts == 5)
  }

  @Test("a key with the attempt in it, a key of two tickets, and another one in the receipt are found")
  func keys() {
    expect([.work(Self.ticket(2), .severalKeys)]) {
      $0.work.lines.append(line(.begin, 2, attempt: 1, key: "b5-1-2-1"))
    }
    expect([
      .work(Self.ticket(3), .severalKeys), .work(Self.ticket(3), .keyOfOtherTicket(of: Self.ticket(1))),
    ]) {
      $0.work.lines.append(line(.begin, 3, key: Self.key(1)))
    }
    expect([.work(Self.ticket(1), .receiptKey)]) { $0.receipts[0].key = "b5-1-7" }
  }

  @Test("an account not moved, another's moved, and one of a service without ledger are found")
  func money() {
    expect([.wrongReceipt(Self.ticket(1))]) { ($0.receipts[0].debit, $0.receipts[0].credit) = (nil, nil) }
    expect([.wrongReceipt(Self.ticket(1))]) { $0.receipts[0].debit = "customer-2" }
    expect([.wrongReceipt(Self.ticket(1))]) { $0.receipts[0].amount += 1 }
    expect([.wrongReceipt(Self.ticket(2))]) { $0.receipts[1].debit = "customer-2" }
  }

  @Test("attempts at the same time, and one that starts long after the receipt, are found")
  func attempts() {
    expect([.work(Self.ticket(2), .overlapped(attempt: 2))]) {
      $0.work.lines.append(line(.overlap, 2, attempt: 2))
    }
    expect([.work(Self.ticket(1), .startedAfterReceipt(attempt: 2))]) {
      $0.work.lines.append(line(.begin, 1, attempt: 2, at: 1_016))
    }
    expect([]) { $0.work.lines.append(line(.begin, 1, attempt: 2, at: 1_015)) }
  }

  @Test("an attempt may start after the receipt for twice as long as the slowest start of a served attempt")
  func slowStart() throws {
    func late(_ at: Int64, slowest: Int64, _ expected: [ChaosViolation]) {
      expect(expected) { evidence in
        for place in evidence.work.lines.indices where evidence.work.lines[place].ticket == Self.ticket(4) {
          evidence.work.lines[place].at = 40 + slowest
        }
        evidence.work.lines.append(line(.begin, 1, attempt: 2, at: at))
      }
    }
    late(3_015, slowest: 1_500, [])
    late(3_016, slowest: 1_500, [.work(Self.ticket(1), .startedAfterReceipt(attempt: 2))])
    // A start is late by itself if it takes longer than any machine needs.
    late(20_016, slowest: 15_000, [.work(Self.ticket(1), .startedAfterReceipt(attempt: 2))])
  }

  @Test("a receipt without its work is found: no start, no end, of another attempt")
  func unwitnessed() {
    expect([.work(Self.ticket(1), .notLogged(attempt: 1))]) { $0.work.lines.remove(at: 0) }
    expect([.work(Self.ticket(1), .notLogged(attempt: 1))]) { $0.work.lines.remove(at: 1) }
    expect([.work(Self.ticket(2), .notLogged(attempt: 3))]) { $0.receipts[1].attempts = 3 }
  }

  @Test(
    "a foreign payload or result, no result, a cut one marked whole, a false end are found"
  )
  func results() {
    expect([.work(Self.ticket(1), .payload)]) { $0.work.lines[0].digest ^= 1 }
    expect([.work(Self.ticket(1), .result)]) { $0.receipts[0].result = nil }
    for number in [Int64(1), 4] {
      expect([.work(Self.ticket(number), .result)]) {
        let order = $0.ledger.orders[Int(number) - 1]
        $0.receipts[Int(number) - 1] = paper(
          order, number, attempts: 1, result: WorkerBehaviour.result(of: Self.payloads[2]))
      }
    }
    expect([.work(Self.ticket(4), .result)]) {
      let order = $0.ledger.orders[3]
      let cut = Array(WorkerBehaviour.result(of: Self.payloads[3]).prefix(ChaosServices.commandResult))
      $0.receipts[3] = paper(order, 4, attempts: 1, result: cut)
    }
    expect([.work(Self.ticket(1), .result)]) {
      $0.receipts[0] = paper($0.ledger.orders[0], 1, attempts: 1, code: 1)
    }
  }

  @Test(
    "a cancelled customer may have either end until it is known, and no other is cancelled")
  func cancelled() {
    let first = Self.ticket(1)
    expect([]) {
      $0.work.cancelsAsked = [first]
      $0.receipts[0] = paper($0.ledger.orders[0], 1, attempts: 1, outcome: .cancelled)
    }
    expect([]) { $0.work.cancelsAsked = [first] }
    expect([.wrongReceipt(first)]) {
      $0.receipts[0] = paper($0.ledger.orders[0], 1, attempts: 1, outcome: .cancelled)
    }
    expect([.work(first, .notCancelled)]) {
      $0.work.cancelsAsked = [first]
      $0.work.cancelsConfirmed = [first]
    }
  }

  @Test("work that was not requested, meaningless lines, and processes that run too long are found")
  func others() throws {
    expect([.work(Self.ticket(9), .notRequested)]) { $0.work.lines.append(line(.begin, 9)) }
    expect([.unreadableLines(2)]) { $0.work.unreadable = 2 }
    let commandLine = ["bank-chaos", WorkMode.command.rawValue, "mark", "/d"]
    let variables = ["PATH=/bin", "BANK_KEY=b5-1-1", "BANK_DAY=1", "BANK_TICKET=1"]
    let process = try #require(
      KeyedProcess(pid: 77, commandLine: commandLine, environment: variables, mark: "mark"))
    #expect(process.ticket == Self.ticket(1) && process.key == "b5-1-1")
    #expect(KeyedProcess(pid: 77, commandLine: commandLine, environment: variables, mark: "other") == nil)
    #expect(KeyedProcess(pid: 77, commandLine: commandLine, environment: ["PATH=/bin"], mark: "mark") == nil)
    // A descendant with an empty environment names its customer in its arguments.
    let bare = ["bank-chaos", WorkMode.descendant.rawValue, "mark", "/d", "0", "b5-1-1", "1", "1"]
    let descendant = KeyedProcess(pid: 77, commandLine: bare, environment: [], mark: "mark")
    #expect(descendant == process)
    #expect(KeyedProcess(pid: 77, commandLine: Array(bare.dropLast()), environment: [], mark: "mark") == nil)
    expect([.orphan(pid: 77, name: "b5-1-1")]) { $0.work.leftoverProcesses = [process] }
    let leakDetector = ChaosLeakDetector(mark: "mark")
    let now = MonotonicTime(nanoseconds: 5_000_000_000)
    leakDetector.ended(Self.ticket(1), at: now)
    leakDetector.check(at: [process], now + .milliseconds(1_000))
    #expect(leakDetector.leaked.isEmpty)
    leakDetector.check(at: [process], now + .milliseconds(1_001))
    leakDetector.check(at: [process], now + .milliseconds(1_200))
    #expect(leakDetector.leaked == [.init(ticket: Self.ticket(1), pid: 77)])
    expect([.work(Self.ticket(1), .outlived(pid: 77))]) { $0.work.leaked = leakDetector.leaked }
  }

  @Test("a line is read as it was written, and half of one is not")
  func lines() {
    let written = line(.overlap, 3, attempt: 4)
    #expect(WorkLogEntry(written.text.dropLast()) == written)
    let commandLine = written.text.split(separator: " ")
    for count in 0..<commandLine.count {
      #expect(WorkLogEntry(commandLine.prefix(count).joined(separator: " ")) == nil)
    }
  }

  @Test(
    "conduct depends on payload and attempt, is good from the third attempt on, all kinds occur"
  )
  func conduct() {
    var ends: [WorkerBehaviour] = []
    for number in 0..<400 {
      let payload = Array("payload \(number)".utf8)
      #expect(WorkerBehaviour(payload, attempt: 1) == WorkerBehaviour(payload, attempt: 1))
      let third = WorkerBehaviour(payload, attempt: 3)
      #expect(third.end == .well && third.protocolViolation == .none)
      ends.append(WorkerBehaviour(payload, attempt: 1))
    }
    for end in [WorkerBehaviour.End.well, .later, .fails, .crashes, .hangs] {
      #expect(ends.contains { $0.end == end })
    }
    for leftoverProcesses in [WorkerBehaviour.Descendant.none, .child, .daemon] {
      #expect(ends.contains { $0.descendant == leftoverProcesses })
    }
    for protocolViolation in [WorkerBehaviour.ProtocolViolation.answersTwice, .answersForAnother, .breaksOff]
    {
      #expect(ends.contains { $0.protocolViolation == protocolViolation })
    }
  }

  @Test("a worker sends and receives the same in both encodings")
  func encodings() throws {
    let lease = Lease(ticket: 7, attempt: 2, generation: 3)
    let text = #"""
      {"welcome":{"lease_ms":1000,"beat_ms":250}}
      {"assign":{"day":1,"ticket":7,"attempt":2,"generation":3,"service":"worker","priority":1024,"payload_b64":"AP8=","key":"b5"}}
      {"recall":{"ticket":7,"attempt":2,"generation":3}}
      {"close":{}}

      """#
    let heard: [MessageToTeller] = [
      .workerAccepted(WorkerTimeouts(leaseMilliseconds: 1_000, beatMilliseconds: 250)),
      .assignWork(
        WorkItem(
          day: 1, lease: lease, service: ChaosServices.worker, priority: 1_024, payload: [0, 255], key: "b5")),
      .recall(lease), .close,
    ]
    var (lines, frames) = (WorkerCodec(.lines), WorkerCodec(.frames))
    var fromLines: [MessageToTeller] = []
    for byte in text.utf8 { fromLines += try lines.take([byte]) }
    #expect(fromLines == heard)
    var bytes: [UInt8] = []
    for message in heard { try FrameEncoder().append(message, to: &bytes, limit: FrameLimits.teller) }
    #expect(try frames.take(bytes) == heard)
    #expect(throws: WorkerCodec.UndecodableMessage.self) { try lines.take(Array("{}\n".utf8)) }
    let said = lines.bytes(of: .failed(lease, WorkFailure("no", after: .milliseconds(5))))
    #expect(
      String(decoding: said, as: UTF8.self)
        == #"{"failed":{"ticket":7,"attempt":2,"generation":3,"reason":"no","after_ms":5}}"# + "\n")
  }
}
