// Bank whose processes run out of descriptors, or whose clients do not read. It reports the refusal, keeps its
// guarantees, and recovers when there are descriptors again, even if no client has left.
import Foundation
import Glibc
import Testing

private let hello = Message.hello().frame

@Suite("Exhausted resources", .serialized)
struct ExhaustionTests {
  /// Sockets of a bank, and the programs that listen on them.
  static let doors = [
    ("bank.sock", "bankd"), ("stock.sock", "bank-stockd"), ("vending.sock", "bank-vending"),
  ]

  private func pid(of program: String, in branch: ScratchBank) throws -> Int {
    try #require(
      branch.processes.all().first {
        branch.processes.name($0).split(separator: " ").first?.hasSuffix("/" + program) ?? false
      })
  }

  /// Limits the number of open descriptors of a process. prlimit(1)
  private func allow(_ count: Int, _ pid: Int, in branch: ScratchBank) throws {
    let limit = "--nofile=\(count):"
    let outcome = try branch.launch(["--pid", "\(pid)", limit], program: "/usr/bin/prlimit").finish()
    try #require(outcome.code == 0, outcome.story)
  }

  private func openDescriptors(of pid: Int) throws -> Set<Int> {
    Set(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) })
  }

  @Test(
    "a client without a free descriptor is refused, and a later client is served",
    arguments: doors)
  func noDescriptors(socket: String, program: String) throws {
    try withScratchBank { branch in
      try branch.start("--juice", "1", "--speed", "max")
      let pid = try pid(of: program, in: branch)
      let most = try openDescriptors(of: pid).max() ?? 0
      try allow(most + 1, pid, in: branch)
      // A client that gets the last free number is served. No client leaves.
      var clients: [RawClient] = []
      var answer = RawClient.Answer()
      while answer.refusal == nil, clients.count <= most {
        clients.append(try RawClient(branch, socket: socket))
        clients.last?.send(hello)
        answer = clients.last?.listen(until: 1) ?? answer
        try #require(
          !answer.frames.isEmpty, "\(program) has no answer for client \(clients.count): \(answer)")
      }
      #expect(answer.refusal?.reason == 5, "\(answer)")
      if socket == "bank.sock" {
        let outcome = try branch.run("status")
        #expect(outcome.code == 75, outcome.story)
      }
      // With this limit even the reserve descriptor is unusable: no client is accepted at all.
      try allow(3, pid, in: branch)
      let patient = try RawClient(branch, socket: socket)
      patient.send(hello)
      let other = try RawClient(branch, socket: socket)
      other.send(hello)
      try allow(1_024, pid, in: branch)
      for client in [patient, other] {
        let answer = client.listen(until: 1)
        // The other checks make no sense without an answer, and each of them would wait for its limit.
        try #require(
          answer.frames.count == 1 && answer.refusal == nil,
          "\(program) does not answer, though there are descriptors again: \(answer)")
      }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      #expect(try self.pid(of: program, in: branch) == pid, "another process has replaced it")
      withExtendedLifetime(clients) {}
    }
  }

  @Test("a teller that exits while there is no free descriptor is restarted when there is one")
  func noTeller() throws {
    try withScratchBank { branch in
      try branch.start("--deposit", "1", "--loan", "1", "--speed", "max")
      let before = try branch.status()
      let coordinator = try pid(of: "bankd", in: branch)
      try allow(3, coordinator, in: branch)
      let teller = try #require(before.workers.first { $0.name == "deposit-1" })
      branch.processes.signal(teller.pid, SIGKILL)
      try branch.waitUntil("its exit was noticed") {
        !FileManager.default.fileExists(atPath: "/proc/\(teller.pid)")
      }
      try allow(1_024, coordinator, in: branch)
      try branch.runSuccessfully("enqueue", "5", "--wait")
      let after = try branch.status()
      #expect(after.pid == before.pid)
      #expect(after.workers.first { $0.name == "deposit-1" }.map { $0.pid != teller.pid } == true)
      try branch.expectClean()
    }
  }

  @Test(
    "a hundred and fifty clients that read no answer cost a service little memory",
    arguments: doors.dropFirst())
  func deafCrowd(socket: String, program: String) throws {
    try withScratchBank { branch in
      try branch.start("--juice", "1", "--speed", "max")
      let pid = try pid(of: program, in: branch)
      let before = memory(of: pid)
      // The cheapest request with the longest answer: the assortment, the products.
      var asking = hello
      for number in 1...4_000 {
        asking +=
          Message.fields([
            (2, .fields([(1, .number(Int64(number))), (3, .fields([(1, .fields([]))]))]))
          ]).frame
      }
      let clients = try (0..<150).map { _ in try RawClient(branch, socket: socket) }
      for client in clients { _ = client.sendAvailable(asking) }
      let reader = try RawClient(branch, socket: socket, patience: 60)
      reader.send(Array(asking.prefix(hello.count + 3 * (asking.count - hello.count) / 4_000)))
      // Its requests are handled after theirs.
      #expect(reader.listen(until: 3).frames.count == 3)
      let grown = memory(of: pid) - before
      #expect(grown < 40 << 10, "\(program) has grown by \(grown) kB")
      withExtendedLifetime(clients) {}
    }
  }

  private func memory(of pid: Int) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    return text.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0
  }
}
