// The teller's shell, and the built executable, over a real socket. The test plays the coordinator. It waits
// for messages and for the end of processes, never for a time.

import BankModel
import Glibc
import Logging
import Posix
import Testing
import Time
import Transport
import Wire

@testable import Teller

@Suite("The teller's process", .serialized) struct TellerProcessTests {
  @Test("serves over a socket, and logs its work in Korean") func serves() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: 2_000, logPath: teller.log))
    let customer = TestTeller.assignment(7, priority: .vip)
    teller.send(.assign(customer))
    try teller.wait { $0.received.contains(.done(customer.lease)) }
    teller.send(.close)
    try teller.wait { $0.ends == [.endOfFile] }
    #expect(teller.teller.exitCode == 0)
    let lines = try teller.lines()
    #expect(lines.map { $0["event"] } == ["ready", "started", "completed", "exit"])
    #expect(lines[1]["msg"] == "7번 VIP고객 예금업무 시작")
    #expect(lines[2]["msg"] == "7번 VIP고객 예금업무 완료")
    #expect(lines[1]["ticket"] == "7" && lines[1]["attempt"] == "1" && lines[1]["day"] == "1")
    #expect(
      lines.allSatisfy {
        $0["worker"] == "deposit-1" && $0["pid"] == "\(CurrentProcess.pid)" && $0["gen"] == "1"
      })
  }

  @Test("answers many customers of no work, one after the other") func fast() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: 0, logPath: teller.log))
    for ticket in 1...500 {
      let customer = TestTeller.assignment(Int64(ticket))
      teller.send(.assign(customer))
      try teller.wait { $0.received.last == .done(customer.lease) }
    }
    teller.send(.close)
    try teller.wait { !$0.ends.isEmpty }
    #expect(try teller.lines().filter { $0["event"] == "completed" }.count == 500)
  }

  @Test("logs of the first customer of the next day its own data, although the lease is the same")
  func nextDay() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: 0, logPath: teller.log))
    for day in 1...2 {
      var customer = TestTeller.assignment(1)
      customer.day = Int64(day)
      teller.send(.assign(customer))
      try teller.wait { $0.received.count { $0 == .done(customer.lease) } == day }
    }
    teller.send(.close)
    try teller.wait { !$0.ends.isEmpty }
    #expect(try teller.lines().compactMap { $0["day"] } == ["1", "1", "2", "2"])
  }

  @Test("answers of brief work are sent together, and not before the present work had its time")
  func together() throws {
    let provider = ScriptedProvider()
    let teller = try InProcessTeller(provider: provider)
    try teller.welcome(HandedOverTests.settings())
    let customers = (1...4).map { TestTeller.assignment($0) }
    for customer in customers { teller.send(.assign(customer)) }
    try teller.wait { _ in provider.begun == [1] }
    provider.isWorkShort = true
    for _ in 0..<2 { provider.finish() }
    #expect(provider.begun == [1, 2, 3])
    #expect(!teller.received.contains { $0.isWorked }, "both are held back for the third")
    // The third takes long: they are sent nevertheless, in one piece.
    try teller.wait { $0.received.contains { $0.isWorked } }
    #expect(teller.received.count { $0.isWorked } == 2)
    provider.isWorkShort = false
    provider.finish()
    try teller.wait { $0.received.count { $0.isWorked } == 3 }
    // No customer follows the last one.
    provider.isWorkShort = true
    provider.finish()
    try teller.wait { $0.received.count { $0.isWorked } == 4 }
  }

  @Test("reports progress while it works, and returns a customer in the middle of it") func recall() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: TestTeller.anHour, beat: 500, logPath: teller.log))
    let customer = TestTeller.assignment(1)
    teller.send(.assign(customer))
    try teller.wait { $0.beats >= 3 }
    teller.send(.recall(customer.lease))
    try teller.wait { $0.received.last == .returned(customer.lease) }
  }

  @Test("ends with 0 when the coordinator hangs up in the middle of its work") func hangUp() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: TestTeller.anHour, logPath: teller.log))
    teller.send(.assign(TestTeller.assignment(1)))
    teller.coordinator.close()
    try teller.wait { $0.teller.exitCode != nil }
    #expect(teller.teller.exitCode == 0)
    #expect(try teller.lines().last?["reason"] == "the coordinator is gone")
  }

  @Test("ends with 65 when the coordinator sends garbage, and logs it") func garbage() throws {
    let loop = try EventLoop()
    let pair = try UnixSocket.pair()
    var complaints: [String] = []
    let teller = try TellerProcess(descriptor: pair.first, loop: loop, reportError: { complaints.append($0) })
    let far = pair.second
    try far.writeAll([0, 0, 0, 1, 0xff])
    while teller.exitCode == nil { try teller.runIteration() }
    #expect(teller.exitCode == 65)
    #expect(complaints.count == 1)
  }

  @Test("serves without a log if none can be opened, and reports it") func noLog() throws {
    let teller = try InProcessTeller()
    try teller.welcome(TestTeller.settings(work: 0, logPath: teller.log + "/not/there.log"))
    #expect(teller.complaints.first?.hasPrefix("serving without a log: open(") == true)
    let customer = TestTeller.assignment(1)
    teller.send(.assign(customer))
    try teller.wait { $0.received.last == .done(customer.lease) }
  }

  // MARK: The executable

  @Test("the executable serves a customer and exits 0") func executable() throws {
    let teller = try SpawnedTeller()
    let child = try teller.start()
    teller.send(.welcome(TestTeller.settings(work: 1_000, logPath: teller.log)))
    try teller.wait { $0.received.contains(.ready) }
    #expect(teller.received.first == .hello(Hello(build: BuildIdentity.current, role: .teller)))
    let customer = TestTeller.assignment(1)
    teller.send(.assign(customer))
    try teller.wait { $0.received.last == .done(customer.lease) }
    teller.send(.close)
    try teller.wait { $0.ends == [.endOfFile] }
    #expect(child.wait().ending == .code(0))
    #expect(try teller.lines().map { $0["event"] } == ["ready", "started", "completed", "exit"])
  }

  @Test("the executable finishes its customer after SIGTERM, then ends, and ignores SIGINT")
  func signals() throws {
    let teller = try SpawnedTeller()
    let child = try teller.start()
    teller.send(.welcome(TestTeller.settings(work: TestTeller.anHour, beat: 500, logPath: teller.log)))
    let customer = TestTeller.assignment(1)
    teller.send(.assign(customer))
    try teller.wait { $0.beats >= 1 }
    child.kill(SIGINT)
    child.kill(SIGTERM)
    let before = teller.beats
    try teller.wait { $0.beats >= before + 5 }
    teller.send(.recall(customer.lease))
    try teller.wait { $0.ends == [.endOfFile] }
    #expect(teller.received.last == .returned(customer.lease))
    #expect(child.wait().ending == .code(0))
    #expect(try teller.lines().last?["reason"] == "asked to end by a signal")
  }

  @Test("the executable ends when its coordinator hangs up") func executableHangUp() throws {
    let teller = try SpawnedTeller()
    let child = try teller.start()
    try teller.wait { !$0.received.isEmpty }
    teller.coordinator.close()
    #expect(child.wait().ending == .code(0))
  }

  @Test("the executable that is refused reports it on standard error and exits 65") func executableRefused()
    throws
  {
    let teller = try SpawnedTeller()
    let child = try teller.start()
    teller.send(.refused(Refusal(reason: .build, build: "other", detail: "another build")))
    #expect(child.wait().ending == .code(65))
    #expect(try teller.complaints().contains("refuses this teller"))
  }

  @Test("the executable started without a coordinator explains itself and exits 2") func byHand() throws {
    let teller = try SpawnedTeller()
    let child = try teller.start(withChannel: false)
    #expect(child.wait().ending == .code(2))
    #expect(try teller.complaints().contains("bankctl start"))
  }
}

extension TellerMessage {
  fileprivate var isWorked: Bool { if case .worked = self { true } else { false } }
}

/// Completes the whole work of customers when the test decides.
private final class ScriptedProvider: ResourceProvider {
  var onResult: ((Lease, ProvisionResult) -> Void)?
  var isWorkShort = false
  /// The tickets whose work has started.
  private(set) var begun: [Int64] = []
  private var present: Lease?

  func begin(_ settings: TellerSettings) {}
  func provide(_ assignment: Assignment) {
    present = assignment.lease
    begun.append(assignment.ticket)
  }
  var nextDeadline: MonotonicTime? { nil }
  func finishIteration() {}

  /// The work of the present customer is done.
  func finish() {
    guard let lease = present else { preconditionFailure("no customer is assigned") }
    present = nil
    onResult?(lease, .worked(WorkResult(duration: .zero)))
  }
}
