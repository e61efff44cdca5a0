// A coordinator within the process of a test: no windows, no other process, and a store in memory that
// commits and fails as the test decides. Requests are handed to it as its sockets do, and its answers are
// read from the other end of a pair.

import BankModel
import Configuration
import Glibc
import Logging
import Posix
import QueueCore
import Storage
import Supervision
import Wire

@testable import Coordinator

final class TestClient {
  let session: ControlSession
  private let descriptor: CInt
  private var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
  private var lastNumber: UInt32 = 0

  init(_ coordinator: Coordinator) throws {
    let pair = try UnixSocket.pair(nonBlocking: true)
    descriptor = dup(pair.second.rawValue)
    session = try coordinator.server.adopt(FileDescriptor(owning: dup(pair.first.rawValue)))
    session.isGreeted = true
  }

  deinit { close(descriptor) }

  /// Sends a request, as if it had just come; returns its number.
  @discardableResult
  func ask(_ command: ControlCommand, _ coordinator: Coordinator, number: UInt32? = nil) -> UInt32 {
    if number == nil { lastNumber += 1 }
    let number = number ?? lastNumber
    coordinator.router.handle(ControlRequest(number: number, command: command), from: session)
    return number
  }

  /// True if the coordinator has sent something that was not read.
  var hasSomethingToRead: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK)) > 0
  }

  /// All answers since the last call.
  func answers(_ coordinator: Coordinator) throws -> [ControlReply] {
    coordinator.server.flush()
    session.channel.flush()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      guard count > 0 else { break }
      decoder.append(buffer[..<count])
      session.channel.flush()
    }
    var replies: [ControlReply] = []
    while let body = try decoder.next() {
      if case .reply(let reply) = try CBORDecoder().decode(BankMessage.self, from: body) {
        replies.append(reply)
      }
    }
    return replies
  }

  /// The last answers to a request, without its progress.
  func answers(to number: UInt32, _ coordinator: Coordinator) throws -> [ControlAnswer] {
    try answers(coordinator).filter { $0.number == number }.map(\.answer).filter {
      if case .progress = $0 { false } else { true }
    }
  }
}

/// A home that is removed with the test, and a coordinator in it that is not opened.
final class TestBank {
  let home: String
  let store = MemoryStore()
  let coordinator: Coordinator
  private var generation: Generation = 0

  /// - Parameters:
  ///   - sharedStore: the database shared with other branches; nil for its own in memory.
  ///   - limits: the limits of its sessions and requests.
  ///   - configuration: its settings, whose services get their numbers before it is opened; nil for the built-in ones.
  init(
    sharing sharedStore: ScriptedStore? = nil, limits: CoordinatorLimits = CoordinatorLimits(),
    configuration: BankConfiguration? = nil
  ) throws {
    var template = Array("/tmp/bank-desk-XXXXXX".utf8CString)
    home = template.withUnsafeMutableBufferPointer { buffer in
      mkdtemp(buffer.baseAddress!).map { String(cString: $0) } ?? ""
    }
    precondition(!home.isEmpty, "No directory could be made for a test.")
    let paths = BankHome(home)
    for directory in [paths.run, paths.logs] { mkdir(directory, 0o700) }
    let now = SystemClock.moment()
    let loop = try EventLoop()
    var contents = try store.load(now: now.wall)
    if let configuration {
      try store.assignNumbers(to: configuration.services)
      contents.dayCounters.know(services: store.services.count)
    }
    let bank = sharedStore.map {
      SharedStoreSession(
        $0,
        BranchJoinState(
          identity: ScriptedStore.identity, dayCounters: contents.dayCounters, bankID: .none,
          isDraining: false),
        address: nil)
    }
    coordinator = Coordinator(
      home: paths, options: try CoordinatorOptions(["--home", home]),
      configuration: configuration ?? BankConfiguration(),
      loop: loop, server: ControlServer(loop: loop, build: "test"),
      log: try LogFile(
        path: paths.log(of: "coordinator"), worker: "coordinator", generation: 1, limit: 1 << 20, keep: 1),
      store: sharedStore ?? store, reading: bank.map(SharedStoreCache.init) ?? store, shared: bank,
      contents: contents,
      incarnation: try store.recordStart(at: now.wall),
      bankID: .none, programs: try ProgramPaths(), now: now, limits: limits)
  }

  deinit {
    for directory in ["/run", "/logs", ""] {
      for name in (try? Directory.entries(of: home + directory)) ?? [] {
        unlink("\(home)\(directory)/\(name)")
      }
    }
    for directory in ["/run", "/logs", ""] { rmdir(home + directory) }
  }

  var log: String {
    coordinator.context.log.flush()
    guard let file = try? FileDescriptor.open(BankHome(home).log(of: "coordinator"), .readOnly) else {
      return ""
    }
    return String(decoding: (try? file.readAll()) ?? [], as: UTF8.self)
  }

  /// Opens windows of a service, each with a teller that serves only when the test answers. No process is
  /// started.
  func openWindows(_ count: Int32, _ service: Service = .deposit) {
    for place in 1...count {
      coordinator.tellerSupervisor.add(Window(service: service, place: place)).phase = .ready
    }
    coordinator.queue.process(.scale(service, windows: count))
    for place in 1...count {
      generation += 1
      coordinator.queue.process(.tellerReady(Window(service: service, place: place), generation, pid: 1))
    }
  }

  /// Every teller is done with its customer: the receipts are staged.
  func serveAll() {
    for place in coordinator.queue.machine.servingCustomers {
      let lease = Lease(
        ticket: place.customer.ticket, attempt: place.customer.attempts + 1, generation: place.generation)
      coordinator.queue.process(.tellerAnswered(place.window, place.generation, lease, .done))
    }
  }

  /// Customers whose tickets are on disk.
  func enqueue(_ count: Int64, key: String? = nil, _ client: TestClient) throws -> [ControlAnswer] {
    let number = client.ask(.enqueue(.deposits(count, key: key)), coordinator)
    coordinator.enqueueHandler.advance()
    coordinator.queue.commit()
    return try client.answers(to: number, coordinator)
  }

  /// An iteration of the intake that does not wait.
  func enqueueCustomers() {
    coordinator.context.updateTime()
    coordinator.enqueueHandler.rest(until: nil)
    coordinator.enqueueHandler.advance()
  }

  /// Iterations of the intake until no request waits for it or is to be removed.
  func finishEnqueue() {
    while coordinator.enqueueHandler.hasWork { enqueueCustomers() }
    coordinator.queue.commit()
  }

  /// An iteration that ends with work for the subscribers.
  func round() {
    coordinator.context.updateTime()
    coordinator.reportProgress()
  }
}

extension EnqueueParameters {
  /// Deposits without random choices.
  static func deposits(_ count: Int64, key: String? = nil, amount: Int64 = 1_000) -> EnqueueParameters {
    EnqueueParameters(
      count: count, service: .deposit, priority: .regular, amount: amount, account: 7, seed: 0, key: key)
  }
}

extension ControlAnswer {
  var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
  var enqueued: EnqueuedReport? { if case .enqueued(let report) = self { report } else { nil } }
}

/// The queue cannot be copied, and `#expect` copies what it takes apart.
extension QueueDriver {
  var isTakingIn: Bool { machine.isTakingIn }
  var isDiskFull: Bool { machine.isDiskFull }
}
