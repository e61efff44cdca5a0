// A service as its server runs it: the bell, whose code has no sockets, loops and ends, on one loop with its
// clients.

import Glibc
import Logging
import Posix
import ServiceFixture
import QueueCore
import Testing
import Time
import Transport
import Wire

@testable import ServiceProcess

@Suite("A server", .serialized)
struct ServiceServerTests {
  /// A home with a running bell.
  private final class BellFixture {
    static let patience = TimeSpan.seconds(120)

    let store = BellStore()
    let loop: EventLoop
    let server: ServiceServer<BellService>
    private let home: ServiceHome
    private var clients: [ServiceClient<BellCommand>] = []

    init() throws {
      var template = Array("/tmp/bank-bell-XXXXXX".utf8CString)
      let path = template.withUnsafeMutableBufferPointer {
        mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
      }
      home = ServiceHome(path: path, name: "bell")
      try home.prepare()
      loop = try EventLoop()
      let log = try LogFile(path: home.log, worker: "bell", generation: 1, limit: 1 << 20, keep: 1)
      server = ServiceServer(BellService(store), on: loop, log: log, supervisor: nil)
      try server.open(in: home)
    }

    deinit {
      for client in clients { client.close() }
      for directory in [home.run, home.logs, home.path] {
        for name in (try? Directory.entries(of: directory)) ?? [] { unlink(Paths.join(directory, name)) }
        rmdir(directory)
      }
    }

    func client() -> ServiceClient<BellCommand> {
      clients.append(ServiceClient(socket: home.socket, loop: loop))
      return clients[clients.count - 1]
    }

    var log: String {
      (try? FileDescriptor.open(home.log, .readOnly).readAll(limit: 1 << 20)).map {
        String(decoding: $0, as: UTF8.self)
      } ?? ""
    }

    var deadline: MonotonicTime { SystemClock.monotonic() + Self.patience }

    /// Runs the server and its clients until a condition holds.
    func wait(until condition: () throws -> Bool) throws {
      let deadline = deadline
      while try !condition() {
        try #require(SystemClock.monotonic() < deadline, "it did not happen")
        for client in clients { client.finishIteration() }
        try server.runIteration(until: SystemClock.monotonic() + .milliseconds(20))
      }
    }
  }

  @Test("answers when the ring is on disk, and notifies all followers")
  func rings() throws {
    let fixture = try BellFixture()
    let (ringer, listener) = (fixture.client(), fixture.client())
    var (heard, answers): ([Int64], [Int64?]) = ([], [])
    listener.follow(BellCursor()) { heard.append($0) }
    try fixture.wait { heard == [0] }
    for _ in 0..<2 {
      let count = answers.count
      ringer.ask(.ring, until: fixture.deadline) {
        if case .success(let answer) = $0 {
          answers.append(answer.rings)
          #expect(fixture.store.rings.count == answers.count, "it is on disk before it is reported")
        }
      }
      try fixture.wait { answers.count > count && heard.count == answers.count + 1 }
    }
    #expect(answers == [1, 2] && heard == [0, 1, 2])
    #expect(fixture.store.commits == 2)
  }

  @Test("makes one commit of all simultaneous requests, and one audit for all that ask for one")
  func shares() throws {
    let fixture = try BellFixture()
    let clients = (0..<8).map { _ in fixture.client() }
    var (rings, audits) = (0, 0)
    for client in clients {
      client.ask(.look, until: fixture.deadline) { _ in rings += 1 }
    }
    try fixture.wait { rings == 8 }
    for client in clients {
      client.ask(.ring, until: fixture.deadline) { _ in rings += 1 }
      client.ask(.audit, until: fixture.deadline) { if case .success = $0 { audits += 1 } }
    }
    try fixture.wait { rings == 16 && audits == 8 }
    #expect(fixture.store.rings == Array(1...8))
    #expect(fixture.store.commits <= 4 && fixture.store.audits <= 4)
  }

  @Test("reports that the disk is full, and that it is not any more")
  func fullDisk() throws {
    let fixture = try BellFixture()
    let client = fixture.client()
    var answers: [Int64?] = []
    for fault in [StoreError.diskFull(detail: "test"), nil] {
      fixture.store.fault = fault
      let count = answers.count
      client.ask(.ring, until: fixture.deadline) {
        if case .success(let answer) = $0 { answers.append(answer.rings) }
      }
      try fixture.wait { answers.count > count }
    }
    #expect(answers == [nil, 1])
    #expect(fixture.server.isRunning)
    try fixture.wait {
      fixture.log.contains("event=disk_full") && fixture.log.contains("event=disk_available")
    }
  }

  @Test("answers the requests it has read when it is asked to end, and accepts no more connections")
  func ends() throws {
    let fixture = try BellFixture()
    let client = fixture.client()
    var answers: [Int64?] = []
    client.ask(.look, until: fixture.deadline) {
      if case .success(let answer) = $0 { answers.append(answer.rings) }
    }
    try fixture.wait { answers == [0] }
    fixture.server.requestStop()
    client.close()
    #expect(try fixture.server.run() == 0)
    #expect(fixture.log.contains("event=ready rings=0") && fixture.log.contains("event=exit code=0"))
  }

  @Test("ends with its reason when the disk has failed")
  func fails() throws {
    let fixture = try BellFixture()
    let client = fixture.client()
    client.ask(.ring, until: fixture.deadline) { _ in }
    fixture.store.fault = .failed(path: "memory", detail: "fsync")
    try fixture.wait { !fixture.server.isRunning }
    #expect(try fixture.server.run() == 1)
    #expect(fixture.log.contains("event=exit code=1") && fixture.store.rings.isEmpty)
  }
}
