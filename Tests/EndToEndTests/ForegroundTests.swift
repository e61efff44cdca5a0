// Bank in the foreground, at a terminal, under systemd or in a container.
import Foundation
import Glibc
import Testing

@Suite("Foreground", .serialized)
struct ForegroundTests {
  /// Service manager at the other end of NOTIFY_SOCKET.
  private final class Manager {
    let path: String
    private let descriptor: Int32
    private(set) var heard: [String] = []

    init(_ branch: ScratchBank) throws {
      path = branch.path("manager.sock")
      descriptor = socket(
        AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard bound == 0 else { throw TestFailure("cannot bind \(path)") }
    }

    deinit { close(descriptor) }

    /// All datagrams so far.
    func messages() -> [String] {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { return heard }
        heard.append(String(decoding: buffer.prefix(count), as: UTF8.self))
      }
    }

    func has(_ field: String) -> Bool { count(field) > 0 }
    func count(_ field: String) -> Int {
      messages().count { $0.split(separator: "\n").contains { $0 == field } }
    }
  }

  @Test("a service manager receives ready, watchdog and stopping messages, in one datagram each")
  func manager() throws {
    try withScratchBank { branch in
      let manager = try Manager(branch)
      let bank = try branch.launch(
        ["start", "--foreground", "--speed", "20"],
        environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
      try branch.waitUntil("the bank is ready") { manager.has("READY=1") }
      #expect(try branch.status().state == "open", "ready means open")
      let ready = try #require(manager.messages().first { $0.contains("READY=1") })
      #expect(ready.contains("\nSTATUS=") && !ready.contains("X_BANK"), "\(ready)")
      #expect(!manager.has("STOPPING=1"))
      let pulses = manager.count("WATCHDOG=1")
      try branch.waitUntil("watchdog messages arrive") { manager.count("WATCHDOG=1") >= pulses + 3 }
      // They come from the coordinator's work, and stop with it although the guardian still runs.
      let stopped = try branch.status().pid
      branch.processes.signal(stopped, SIGSTOP)
      try branch.waitUntil("no message is in flight any more") {
        let before = manager.count("WATCHDOG=1")
        Polling.pause(milliseconds: 600)
        return manager.count("WATCHDOG=1") == before
      }
      branch.processes.signal(stopped, SIGCONT)
      // The coordinator is killed: the manager is notified that the bank is ready again, and not that it stops.
      branch.processes.signal(try branch.status().pid, SIGKILL)
      try branch.waitUntil("the bank is ready again") { manager.count("READY=1") == 2 }
      #expect(!manager.has("STOPPING=1"))
      bank.signal(SIGTERM)
      #expect(try bank.finish().code == 0)
      #expect(manager.has("STOPPING=1"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("without a watchdog no keep-alive is sent, and a missing manager does no harm")
  func noWatchdog() throws {
    try withScratchBank { branch in
      let manager = try Manager(branch)
      let bank = try branch.launch(
        ["start", "--foreground", "--speed", "max"], environment: ["NOTIFY_SOCKET": manager.path])
      try branch.waitUntil("the bank is ready") { manager.has("READY=1") }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.runSuccessfully("stop")
      #expect(try bank.finish().code == 0)
      #expect(!manager.has("WATCHDOG=1"))
      let alone = try branch.launch(
        ["start", "--foreground", "--speed", "max"], environment: ["NOTIFY_SOCKET": branch.path("missing")])
      try branch.waitUntil("the bank is open") { !alone.lines.isEmpty }
      alone.signal(SIGTERM)
      #expect(try alone.finish().code == 0)
    }
  }

  @Test("a killed coordinator is restarted in the foreground, too, and SIGTERM still closes the bank")
  func restart() throws {
    try withScratchBank { branch in
      let bank = try branch.launch(["start", "--foreground", "--speed", "20", "--deposit", "3"])
      try branch.waitUntil("the bank is open") { bank.lines.count >= 5 }
      try branch.runSuccessfully("enqueue", "20")
      let before = try branch.status()
      #expect(before.guardianPid == Int(bank.pid))
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the coordinator is back") {
        try branch.statusIfAnswered().map { $0.pid != before.pid } ?? false
      }
      #expect(bank.isRunning)
      bank.signal(SIGTERM)
      let outcome = try bank.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.err.contains("\(before.pid)") && outcome.err.contains("SIGKILL"), outcome.story)
      #expect(outcome.lastLine.hasPrefix("The bank has closed. Customers served today: 20."), outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(20)
    }
  }

  @Test("a second signal finishes only the customers at a window", arguments: [SIGTERM, SIGINT])
  func twice(signal: Int32) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      let bank = try branch.launch(["start", "--foreground", "--config", file])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      try branch.runSuccessfully("enqueue", "60")
      try branch.waitUntil("a customer is served") { try branch.status().queue("serving") > 0 }
      bank.signal(signal)
      try branch.waitUntil("the bank drains") { try branch.status().state == "draining" }
      bank.signal(signal)
      let outcome = try bank.finish()
      #expect(outcome.code == 0, outcome.story)
      try branch.expectNoProcessesLeft()
      #expect(try branch.receipts().count < 60)
    }
  }

  @Test("SIGHUP reloads the configuration unless a terminal has hung up")
  func reload() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2)
      let bank = try branch.launch(["start", "--foreground", "--config", file])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      _ = try branch.configuration(deposit: 4)
      bank.signal(SIGHUP)
      try branch.waitUntil("there are four windows") {
        try branch.status().service("deposit")["windows"].integer == 4
      }
      bank.signal(SIGTERM)
      #expect(try bank.finish().code == 0)
    }
  }

  @Test("a bank that cannot open has the same exit code as without --foreground")
  func refusals() throws {
    try withScratchBank { branch in
      let bank = try branch.launch(["start", "--foreground", "--speed", "max"])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      let second = try branch.run("start", "--foreground", "--json")
      #expect(second.code == 5, second.story)
      #expect(try second.json()["error"]["code"].text == "already_open")
      bank.signal(SIGTERM)
      #expect(try bank.finish().code == 0)
      let file = try branch.write("{\"windows\": 7}", to: "bad.json")
      #expect(try branch.run("start", "--foreground", "--config", file).code == 2)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a killed foreground guardian stops nothing: the coordinator starts another one")
  func killed() throws {
    try withScratchBank { branch in
      let bank = try branch.launch(["start", "--foreground", "--speed", "20"])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      let before = try branch.status()
      bank.signal(SIGKILL)
      try branch.waitUntil("another guardian has taken over") {
        !branch.events("adopted", in: "guardian").isEmpty
      }
      let after = try branch.status()
      #expect(after.pid == before.pid && after.guardianPid != Int(bank.pid))
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("systemd accepts the unit file and rates its exposure as low")
  func unitFile() throws {
    let analyze = "/usr/bin/systemd-analyze"
    guard access(analyze, X_OK) == 0 else {
      print("NOT CHECKED: config/bank.service, because there is no \(analyze) here")
      return
    }
    try withScratchBank { branch in
      let root = #filePath.components(separatedBy: "/Tests/")[0]
      let unit = "\(root)/config/bank.service"
      let outcome = try branch.launch(
        ["security", "--offline=true", "--threshold=15", "--no-pager", unit], program: analyze
      ).finish()
      // The threshold is ten times the exposure: 1.5.
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.out.contains("Overall exposure level for bank.service"), outcome.story)
    }
  }
}
