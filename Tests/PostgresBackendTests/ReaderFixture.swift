// A server for clients of a coordinator, a reader of a shared database for it, and a client or two, all in
// one loop. The reader is the real program on a real database. Failure: the calling test fails.

import BankModel
import Glibc
import Posix
import Supervision
import Testing
import Time
import Transport
import Wire

@testable import Coordinator

final class ReaderFixture {
  let loop: EventLoop
  let server: ControlServer
  let reader: SharedStoreReader
  private(set) var events: [String] = []

  /// - Parameter program: nil for the real one.
  init(reading address: String, program: String? = nil) throws {
    loop = try EventLoop()
    server = ControlServer(loop: loop, build: BuildIdentity.current)
    reader = SharedStoreReader(
      program: try program ?? Self.bankd,
      arguments: ["--inspect", "--store", address], environment: Environment.all(), loop: loop,
      server: server, seed: 7)
    server.onCommand = { [unowned self] session, request in
      reader.pass(request.command, RequestHandle(session: session, number: request.number))
    }
    server.onEnd = { [unowned self] in reader.forget($0) }
    reader.onEvent = { [unowned self] event, _, _ in events.append("\(event)") }
  }

  /// The program, if it was built.
  static var bankd: String {
    get throws {
      let named = Environment.value("BANK_BINARIES") ?? ""
      return Paths.join(named.isEmpty ? Paths.directory(of: try Paths.executable()) : named, "bankd")
    }
  }

  /// Ends the processes and reaps them.
  func close() throws {
    reader.close()
    try runLoop { reader.pids.isEmpty }
  }

  /// Runs the loop until a condition holds.
  func runLoop(within limit: TimeSpan = .seconds(120), until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + limit
    while try !condition() {
      try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
      let soon = SystemClock.monotonic() + .milliseconds(10)
      try loop.runOnce(until: .earliest(reader.nextDeadline, soon))
      reader.finishIteration()
      server.flush()
    }
  }

  func client() throws -> Client {
    let pair = try UnixSocket.pair()
    let session = try server.adopt(pair.second)
    return try Client(pair.first, session, loop)
  }

  final class Client {
    let session: ControlSession
    let channel: MessageChannel<BankMessage, ClientMessage>
    private(set) var answers: [UInt32: [ControlAnswer]] = [:]
    private(set) var ended: Set<UInt32> = []
    private var last: UInt32 = 0

    init(_ descriptor: consuming FileDescriptor, _ session: ControlSession, _ loop: EventLoop) throws {
      self.session = session
      channel = try .init(
        descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 20)
      channel.onMessage = { [unowned self] message in
        guard case .reply(let reply) = message else { return }
        answers[reply.number, default: []].append(reply.answer)
        if !reply.more {
          let isFirst = ended.insert(reply.number).inserted
          #expect(isFirst, "request \(reply.number) ended twice")
        }
      }
      channel.send(.hello(Hello(build: BuildIdentity.current, role: .client)))
      channel.flush()
    }

    func ask(_ command: ControlCommand) -> UInt32 {
      last += 1
      channel.send(.request(ControlRequest(number: last, command: command)))
      channel.flush()
      return last
    }

    func receipts(_ number: UInt32) -> [ReceiptReport] {
      answers[number, default: []].flatMap { answer -> [ReceiptReport] in
        if case .receipts(let receipts) = answer { receipts } else { [] }
      }
    }

    func tickets(_ number: UInt32) -> [TicketReport] {
      answers[number, default: []].flatMap { answer -> [TicketReport] in
        if case .tickets(let tickets) = answer { tickets } else { [] }
      }
    }

    func failure(_ number: UInt32) -> Failure? {
      if case .failure(let failure)? = answers[number]?.last { failure } else { nil }
    }
  }
}
