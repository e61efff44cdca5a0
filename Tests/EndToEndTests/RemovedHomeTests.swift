// Removal of the files of an open bank: what can be created again comes back, and a bank without its database exits
// with all of its processes.
import Foundation
import Glibc
import Testing

@Suite("Removed files", .serialized)
struct RemovedHomeTests {
  private let files = FileManager.default

  @Test(
    "a removed socket is created again, also with its directory, and no customer is lost",
    arguments: ["run/bank.sock", "run"])
  func socket(name: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try branch.status().pid
      try files.removeItem(atPath: "\(branch.home)/\(name)")
      try branch.expectRefusal(5, "already_open", of: "start")
      try branch.waitUntil("the bank is reachable again", within: .seconds(5)) {
        try branch.run("status").code == 0
      }
      #expect(try branch.status().pid == pid)
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(3)
    }
  }

  @Test("without its lock file a bank still excludes a second one, and a killed coordinator is restarted")
  func lock() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try branch.status().pid
      func sockets() throws -> [UInt64] {
        try ["bank.sock", "guardian.sock", "answers.sock"].map { name in
          let facts = try files.attributesOfItem(atPath: "\(branch.home)/run/\(name)")
          return try #require(facts[.systemFileNumber] as? UInt64)
        }
      }
      try branch.waitUntil("the first heartbeat was sent") {
        files.fileExists(atPath: "\(branch.home)/run/answers.sock")
      }
      let former = try sockets()
      try files.removeItem(atPath: "\(branch.home)/bank.lock")
      try branch.expectRefusal(5, "already_open", of: "start")
      #expect(try sockets() == former, "the refused start has replaced none of the open bank's sockets")
      func repairs() -> [String] {
        branch.events("home_repaired", in: "coordinator").map { $0["msg"] ?? "" }
      }
      try branch.waitUntil("the lock is taken again", within: .seconds(5)) {
        repairs().contains { $0.contains("bank.lock") }
      }
      #expect(repairs().count == 1, "nothing else was removed: \(repairs())")
      try branch.expectRefusal(5, "already_open", of: "start")
      // The lock of the database excludes others as well; this check is for the lock file.
      let lock = open("\(branch.home)/bank.lock", O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      #expect(
        lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK,
        "the lock is free: \(lock), \(errno)")
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("another coordinator answers") {
        let outcome = try branch.run("status", "--json")
        return try outcome.code == 0 && Status(outcome.json()).pid != pid
      }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.expectClean()
    }
  }

  @Test("a removed lock file that another process locks for a while is taken back by the bank afterwards")
  func lockOfAnother() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let path = "\(branch.home)/bank.lock"
      try files.removeItem(atPath: path)
      let stranger = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(
        stranger >= 0 && flock(stranger, LOCK_EX | LOCK_NB) == 0, "the bank had no time to lock it yet")
      try branch.waitUntil("the bank has noticed it", within: .seconds(5)) {
        branch.events("home_repair_failed", in: "coordinator").contains {
          $0["msg"]?.contains("lock") == true
        }
      }
      close(stranger)
      try branch.waitUntil("the lock is taken again", within: .seconds(5)) {
        branch.events("home_repaired", in: "coordinator").contains {
          $0["msg"]?.contains("bank.lock") == true
        }
      }
      let lock = open(path, O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK, "the lock is free")
      try branch.expectClean()
    }
  }

  /// Removes the home as `rm -rf` does: files that processes remove meanwhile are not an error.
  private func remove(_ branch: ScratchBank) throws {
    try branch.waitUntil("the home is removed") {
      try? files.removeItem(atPath: branch.home)
      return !files.fileExists(atPath: branch.home)
    }
  }

  @Test("a bank whose home is removed exits with its tellers and its guardian, and creates nothing again")
  func removed() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "1")
      try branch.runSuccessfully("enqueue", "20")
      try remove(branch)
      try branch.waitUntil("all processes have exited", within: .seconds(5)) {
        branch.processes.all().isEmpty
      }
      #expect(!files.fileExists(atPath: branch.home))
      try branch.start("--speed", "max")
      #expect(try branch.json("enqueue", "2", "--wait")["first"].integer == 1)
      try branch.expectClean()
    }
  }

  @Test("a coordinator killed together with its home is not restarted")
  func killedAndRemoved() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try branch.status().pid
      try remove(branch)
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("all processes have exited", within: .seconds(5)) {
        branch.processes.all().isEmpty
      }
      #expect(!files.fileExists(atPath: branch.home))
    }
  }

  @Test("a bank that is moved away exits, and opens at its new place with all waiting customers")
  func moved() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "1")
      try branch.runSuccessfully("enqueue", "20")
      let place = branch.path("moved")
      try files.moveItem(atPath: branch.home, toPath: place)
      try branch.waitUntil("all processes have exited", within: .seconds(5)) {
        branch.processes.all().isEmpty
      }
      #expect(!files.fileExists(atPath: branch.home))
      try branch.runSuccessfully("start", "--home", place, "--speed", "max")
      try branch.runSuccessfully("wait", "--home", place)
      #expect(try branch.lines("receipts", "--home", place).count == 20)
      #expect(try branch.json("audit", "--home", place)["ok"].flag == true)
      try branch.runSuccessfully("stop", "--home", place)
    }
  }
}
