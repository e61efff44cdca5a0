// The watch over the files of a service, and its reaction to each loss: a lost database ends the service at
// once, a log is rescued at once and created again later, a socket is bound again, and a lost home stays
// away.

import Glibc
import Posix
import Testing
import Time
import Transport
import Wire

@testable import ServiceProcess

@Suite("The files of a service") struct ServiceFileWatcherTests {
  private final class Service {
    let loop: EventLoop
    let home: ServiceHome
    var watch: ServiceFileWatcher?
    var rescues = 0
    var renewals = 0
    /// The number of times that a new log cannot be created.
    var refusals = 0
    var bound: [String] = []
    var ends: [Failure] = []
    var repaired: [String] = []
    var troubles: [String] = []
    var reserves = 0

    private var files: [String] {
      [home.database, home.databaseLog, home.databaseReserve, home.socket, home.lock, home.log]
    }

    init() throws {
      var template = Array("/tmp/bank-watch-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else {
        throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno)
      }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      home = ServiceHome(path: path, name: "stock")
      loop = try EventLoop()
      try Directory.create(path: home.run)
      try Directory.create(path: home.logs)
      for file in files { try Self.write(file) }
      let repairActions = ServiceFileWatcher.RepairActions(
        rescueLog: { [unowned self] in rescues += 1 },
        renewLog: { [unowned self] in
          renewals += 1
          refusals -= 1
          return refusals < 0
        },
        renewReserve: { [unowned self] in
          reserves += 1
          try? Self.write(home.databaseReserve)
        },
        retakeLock: { [unowned self] in (try? Self.write(home.lock)) != nil },
        restoreLog: { [unowned self] in try? Self.write(home.log) },
        listen: { [unowned self] path in
          bound.append(path)
          try Self.write(path)
        },
        end: { [unowned self] in ends.append($0) },
        note: { [unowned self] event, words in
          if "\(event)" == "home_repaired" {
            repaired.append(words)
          } else {
            troubles.append("\(event): \(words)")
          }
        })
      watch = ServiceFileWatcher(home, sockets: [home.socket], on: loop, repairActions)
    }

    deinit {
      for file in files { unlink(file) }
      rmdir(home.run)
      rmdir(home.logs)
      rmdir(home.path)
    }

    private static func write(_ path: String) throws {
      try FileDescriptor.open(path, [.writeOnly, .create], mode: 0o600).writeAll([1])
    }

    /// Runs the service until `condition` holds.
    func wait(_ what: String, until condition: () -> Bool) throws {
      let deadline = SystemClock.monotonic() + .seconds(120)
      while !condition() {
        let now = SystemClock.monotonic()
        try #require(now < deadline, "\(what): it did not happen; \(troubles), \(repaired)")
        try loop.runOnce(until: min(now + .milliseconds(20), watch?.nextDeadline ?? deadline))
        watch?.runTimers(SystemClock.monotonic())
      }
    }
  }

  @Test("a removed or renamed database ends the service at once, by its name", arguments: [true, false])
  func database(isRenamed: Bool) throws {
    let service = try Service()
    let aside = service.home.path + "/aside"
    defer { unlink(aside) }
    if isRenamed { rename(service.home.database, aside) } else { unlink(service.home.database) }
    try service.wait("the service ends") { !service.ends.isEmpty }
    #expect(service.ends.first?.code == .removed && service.ends.first?.subject == service.home.database)
    #expect(service.repaired == [], "nothing was created again before")
  }

  @Test("a removed log is rescued at once and only once, and created again as soon as possible")
  func log() throws {
    let service = try Service()
    service.refusals = 1
    unlink(service.home.databaseLog)
    try service.wait("the log is rescued") { service.rescues > 0 }
    #expect(service.renewals == 0, "its remover has time to finish")
    try service.wait("the log is created again") { service.renewals == 2 }
    #expect(service.rescues == 1 && service.ends == [])
    #expect(service.troubles.count { $0.hasPrefix("wal_removed: ") } == 1)
    try service.wait("it is reported") { service.repaired.contains { $0.hasSuffix(": stock.db-wal") } }
    #expect(service.watch?.nextDeadline == nil, "nothing is left to be done")
  }

  @Test(
    "a removed socket is bound again, also if its directory was removed with it", arguments: [true, false])
  func socket(withDirectory: Bool) throws {
    let service = try Service()
    for round in 1...2 {
      unlink(service.home.socket)
      if withDirectory { #expect(rmdir(service.home.run) == 0) }
      try service.wait("it is bound again") { service.bound.count == round }
      try service.wait("it is reported") { service.repaired.count == round }
      #expect(try FileMetadata.inspect(service.home.socket) != nil)
    }
    #expect(service.bound == [service.home.socket, service.home.socket])
    #expect(service.repaired.allSatisfy { $0.hasSuffix(": stock.sock") } && service.troubles == [])
    #expect(service.ends == [] && service.rescues == 0)
  }

  @Test("a removed reserve is held back again")
  func reserve() throws {
    let service = try Service()
    unlink(service.home.databaseReserve)
    try service.wait("it is held back again") { service.reserves == 1 }
    try service.wait("it is reported") { service.repaired.contains { $0.hasSuffix(": stock.db-reserve") } }
    #expect(service.rescues == 0 && service.ends == [] && service.troubles == [])
  }

  @Test("a home that is gone is not created again")
  func home() throws {
    let service = try Service()
    let home = service.home
    let files = [
      home.socket, home.databaseReserve, home.databaseLog, home.database, home.lock, home.log,
    ]
    for file in files { unlink(file) }
    #expect(rmdir(home.run) == 0 && rmdir(home.logs) == 0 && rmdir(home.path) == 0)
    try service.wait("the service ends") { !service.ends.isEmpty }
    try service.wait("the loss is reported as permanent") { !service.troubles.isEmpty }
    #expect(try FileMetadata.inspect(home.path) == nil && service.bound == [])
  }
}
