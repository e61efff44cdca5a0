// Removal of single files and directories of an open bank: sockets, logs and marker files are created again,
// acknowledged work survives the loss of a database log, and a missing database is reported everywhere.
import BankModel
import Foundation
import Glibc
import Testing

@Suite("Removed parts of a home", .serialized)
struct RemovedFilesTests {
  private let files = FileManager.default

  /// Removes a file or a directory as `rm -rf` does: entries that the bank's processes add or remove meanwhile are no
  /// error. A file that is missing already is removed.
  private func remove(_ name: String, of branch: ScratchBank) throws {
    let path = "\(branch.home)/\(name)"
    func number() -> ino_t? {
      var facts = stat()
      return lstat(path, &facts) == 0 ? facts.st_ino : nil
    }
    guard let former = number() else { return }
    try branch.waitUntil("\(path) is removed") {
      try? files.removeItem(atPath: path)
      return number() != former
    }
  }

  private func problemTexts(_ report: JSON) -> [String] { report["problems"].items.compactMap(\.text) }

  @Test("without its logs a killed coordinator is restarted, and every log is created again")
  func logs() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try branch.status().pid
      try remove("logs", of: branch)
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("another coordinator answers") {
        try branch.statusIfAnswered().map { $0.pid != pid } ?? false
      }
      try branch.runSuccessfully("enqueue", "3", "--wait")
      for name in ["coordinator", "guardian"] {
        try branch.waitUntil("\(name).log exists again") { !branch.log(name).isEmpty }
      }
      #expect(files.fileExists(atPath: "\(branch.home)/logs/bankd.stderr"))
      try branch.expectClean()
    }
  }

  @Test("logs removed under an open bank are created again by every process with an entry to write")
  func logsOfTheOpenBank() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try remove("logs", of: branch)
      try branch.waitUntil("the coordinator's log exists again") {
        branch.log("coordinator").contains("event=home_repaired")
      }
      try branch.waitUntil("a teller's log exists again") {
        try branch.runSuccessfully("enqueue", "3", "--service", "loan", "--wait")
        return !branch.log("loan-1").isEmpty
      }
      try branch.runSuccessfully("juice", "order", "banana")
      try branch.expectClean()
    }
  }

  @Test(
    "acknowledged tickets and keys survive the loss of the database log and a kill",
    arguments: ["removed", "renamed"])
  func databaseLog(way: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "4", "--key", "before")
      let log = "\(branch.home)/bank.db-wal"
      if way == "removed" { unlink(log) } else { rename(log, branch.path("log")) }
      try branch.waitUntil("the loss is noticed") { !branch.events("wal_removed", in: "coordinator").isEmpty }
      try branch.runSuccessfully("enqueue", "4", "--key", "after")
      try branch.killCoordinator()
      try branch.reopen("--speed", "max")
      for (key, first) in [("before", 1), ("after", 5)] {
        #expect(try branch.json("enqueue", "4", "--key", key)["first"].integer == first)
      }
      #expect(try branch.status().queue("issued") == 8)
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(8)
      try branch.expectClean()
    }
  }

  @Test("a lost database log is created again, so that the next kill finds it")
  func newLog() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "2")
      try remove("bank.db-wal", of: branch)
      try branch.waitUntil("the database log exists again") {
        branch.events("home_repaired", in: "coordinator").contains {
          $0["msg"]?.contains("bank.db-wal") == true
        }
      }
      try branch.runSuccessfully("enqueue", "2")
      #expect(files.fileExists(atPath: "\(branch.home)/bank.db-wal"))
      try branch.killCoordinator()
      try branch.reopen("--speed", "max")
      #expect(try branch.status().queue("issued") == 4)
      try branch.expectClean()
    }
  }

  @Test("the shop keeps acknowledged changes when the logs of its databases are removed")
  func logsOfTheShop() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("vending", "insert", "5000")
      try branch.runSuccessfully("stock", "add", "kiwi", "5")
      for name in ["stock", "vending"] {
        try remove("\(name).db-wal", of: branch)
        try branch.waitUntil("\(name) has noticed the loss") {
          !branch.events("wal_removed", in: name).isEmpty
        }
      }
      try branch.runSuccessfully("vending", "insert", "1000")
      try branch.runSuccessfully("stock", "add", "kiwi", "1")
      try branch.killCoordinator()
      try branch.reopen("--speed", "max")
      #expect(try branch.json("vending", "balance")["balance"].integer == 6000)
      #expect(try branch.stock()["kiwi"] == 16)
      try branch.expectClean()
    }
  }

  @Test("after the loss of run/ the same processes of bank, juice and vending machine are reachable again")
  func sockets() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pids = try branch.status().workers.map(\.pid)
      try remove("run", of: branch)
      try branch.waitUntil("all services are reachable again") {
        try branch.run("status").code == 0 && branch.run("stock").code == 0
          && branch.run("vending").code == 0 && branch.run("vending", "admin", "stock").code == 0
      }
      #expect(try branch.status().workers.map(\.pid) == pids)
      try branch.waitUntil("a juice is made") { try branch.order("banana", "--timeout", "5s").code == 0 }
      // The guardian is reachable for coordinators again: its socket and the marker file of the windows are back.
      for name in ["guardian.sock", "windows"] {
        try branch.waitUntil("\(name) is back") { files.fileExists(atPath: "\(branch.home)/run/\(name)") }
      }
      try branch.expectClean()
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("the disk reserve of each database is created again when its file is removed")
  func reserves() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      for name in ["bank", "stock", "vending"] {
        let path = "\(branch.home)/\(name).db-reserve"
        func size() -> Int64 {
          var facts = stat()
          return stat(path, &facts) == 0 ? Int64(facts.st_blocks) * 512 : 0
        }
        let before = size()
        #expect(before > 0, "\(name)")
        try remove("\(name).db-reserve", of: branch)
        try branch.waitUntil("\(name) has its reserve again") { size() == before }
      }
      try branch.waitUntil("both have logged it") {
        ["stock", "vending"].allSatisfy { name in
          branch.events("home_repaired", in: name).contains {
            $0["msg"]?.contains("\(name).db-reserve") == true
          }
        }
      }
      try branch.expectClean()
    }
  }

  @Test("removed sockets of the shop are created again")
  func socket() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let names = ["stock", "vending", "vending-admin"]
      for name in names { try remove("run/\(name).sock", of: branch) }
      for name in names {
        try branch.waitUntil("\(name) is back") {
          files.fileExists(atPath: "\(branch.home)/run/\(name).sock")
        }
      }
      try branch.runSuccessfully("stock")
      try branch.runSuccessfully("vending")
      try branch.runSuccessfully("vending", "admin", "stock")
    }
  }

  @Test(
    "a removed shop database is reported by audit and status, and no new one replaces it",
    arguments: ["stock", "vending"])
  func database(name: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("vending", "insert", "6000")
      let path = "\(branch.home)/\(name).db"
      try files.moveItem(atPath: path, toPath: branch.path("aside"))
      for suffix in ["-wal", "-shm"] { _ = rename(path + suffix, branch.path("aside\(suffix)")) }
      for round in 1...2 {
        try branch.waitUntil("status reports it") {
          try branch.statusIfAnswered()?.worker(name)?.state == "failed"
        }
        let audit = try branch.run("audit", "--json")
        #expect(audit.code == 1, audit.story)
        #expect(
          try problemTexts(audit.json()).contains { $0.contains(path) && $0.contains("removed") }, audit.story
        )
        for language in [OutputLanguage.en, .ko] {
          let status = try branch.run("status", language: language)
          #expect(status.out.contains(path), status.story)
        }
        #expect(!files.fileExists(atPath: path))
        // The other services continue.
        try branch.runSuccessfully("enqueue", "2", "--wait")
        if round == 1 {
          // Nor does the next coordinator create a new one.
          let pid = try branch.status().pid
          branch.processes.signal(pid, SIGKILL)
          try branch.waitUntil("another coordinator answers") {
            try branch.statusIfAnswered().map { $0.pid != pid } ?? false
          }
        }
      }
      // After the files are put back, everything is there again.
      for suffix in ["-wal", "-shm"] { _ = rename(branch.path("aside\(suffix)"), path + suffix) }
      try files.moveItem(atPath: branch.path("aside"), toPath: path)
      try branch.runSuccessfully("reload")
      try branch.waitUntil("the service works again") {
        let balance = try branch.run("vending", "balance", "--json")
        return try balance.code == 0 && balance.json()["balance"].integer == 6000
      }
      try branch.waitUntil("the audit is clean") { try branch.run("audit").code == 0 }
    }
  }

  @Test("a bank whose database is removed accepts nothing more, and reports it to every client")
  func bankDatabase() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      let path = "\(branch.home)/bank.db"
      rename(path, branch.path("aside"))
      _ = rename(path + "-wal", branch.path("aside-wal"))
      let ticket = try branch.run("enqueue", "1")
      #expect(ticket.code != 0, ticket.story)
      try branch.waitUntil("all processes have exited", within: .seconds(5)) {
        branch.processes.all().isEmpty
      }
      #expect(!files.fileExists(atPath: path))
      #expect(branch.log("coordinator").contains("event=database_removed"))
      rename(branch.path("aside"), path)
      _ = rename(branch.path("aside-wal"), path + "-wal")
      try branch.start("--speed", "max")
      #expect(try branch.status().queue("issued") == 3)
      try branch.expectClean()
    }
  }

  /// Gives a test a bank in which every process that owns a file of the home runs.
  private func withEverything(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      let file = try branch.write(
        #"""
        {"services": {"out": {"outside": true}, "long": {"run": ["seq", "50000"], "windows": 1}},
         "windows": {"deposit": 1, "loan": 0, "juice": 0}}
        """#, to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try branch.runSuccessfully("web", "--no-open")
      try branch.runSuccessfully("enqueue", "1", "--service", "long", "--wait")
      try test(branch)
    }
  }

  private func mode(_ entry: HomeFile, of branch: ScratchBank) -> mode_t? {
    var facts = stat()
    guard lstat("\(branch.home)/\(entry.path)", &facts) == 0 else { return nil }
    let kind: mode_t =
      switch entry.kind {
      case .directory: S_IFDIR
      case .file: S_IFREG
      case .socket: S_IFSOCK
      }
    return facts.st_mode & S_IFMT == kind ? facts.st_mode & 0o777 : nil
  }

  @Test("each entry of the home's table is created again after its removal, and the audit is clean")
  func table() throws {
    try withEverything { branch in
      let pid = try branch.status().pid
      let present = HomeFileTable.entries.filter { mode($0, of: branch) != nil }
      let missing = HomeFileTable.entries.filter { $0.isPermanent && !present.contains($0) }
      #expect(missing.isEmpty, "\(missing.map(\.path))")
      for owner in HomeFile.Owner.allCases { #expect(present.contains { $0.owner == owner }, "\(owner)") }
      // The log of a database comes back with the next row; its loss has tests of its own.
      for entry in present where entry.remedy == .recreated {
        // Entries below a removed directory come back a moment after it.
        try branch.waitUntil("\(entry.path) exists") { mode(entry, of: branch) != nil }
        try remove(entry.path, of: branch)
        try branch.waitUntil("\(entry.path) exists again") { mode(entry, of: branch) == mode_t(entry.mode) }
      }
      #expect(try branch.status().pid == pid)
      try branch.runSuccessfully("run", "--wait", "--", "true")
      try branch.expectClean()
      // All files at once, except the databases.
      for entry in present where entry.remedy == .recreated && entry.kind != .directory {
        try remove(entry.path, of: branch)
      }
      for name in ["run", "logs", "output"] { try remove(name, of: branch) }
      for entry in present where entry.isPermanent {
        try branch.waitUntil("\(entry.path) exists again after all were removed") {
          mode(entry, of: branch) != nil
        }
      }
      try branch.expectClean()
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a long output is kept and printed completely after the directory of output was removed")
  func output() throws {
    try withEverything { branch in
      let before = try branch.runSuccessfully("run", "--wait", "--", "seq", "50000").out
      try remove("output", of: branch)
      let after = try branch.run("run", "--wait", "--", "seq", "50000")
      #expect(before.utf8.count > 200_000 && after.out == before && after.err == "", "\(after.err)")
      // A file that is removed while its command writes is reported as removed, and not as a limit of the service.
      let pipe = branch.path("pipe")
      #expect(mkfifo(pipe, 0o600) == 0)
      try branch.runSuccessfully("run", "--", "sh", "-c", "seq 50000; read nothing < \(pipe); seq 9")
      let ticket = try branch.status().queue("issued")
      try branch.waitUntil("the command has written its output") {
        (try? files.attributesOfItem(atPath: "\(branch.home)/output/1/\(ticket).out")[.size] as? Int) ?? 0
          > 200_000
      }
      try remove("output", of: branch)
      let end = open(pipe, O_WRONLY)
      #expect(write(end, "go\n", 3) == 3)
      close(end)
      try branch.runSuccessfully("wait")
      let told = try branch.run("output", "\(ticket)")
      #expect(told.err.contains("their file was removed"), "\(told.err)")
      try branch.runSuccessfully("stop", "--now")
    }
  }

  @Test(
    "the audit names a missing file if its owner does not create it again, and no file that is being restored"
  )
  func missing() throws {
    try withEverything { branch in
      try remove("run/worker.sock", of: branch)
      try branch.expectClean()
      let web = try #require(try branch.status().workers.first { $0.name == "web" }).pid
      branch.processes.signal(web, SIGSTOP)
      try remove("run/web.sock", of: branch)
      let audit = try branch.run("audit", "--json")
      #expect(audit.code == 1, audit.story)
      #expect(try problemTexts(audit.json()).contains { $0.contains("run/web.sock is missing") }, audit.story)
      branch.processes.signal(web, SIGCONT)
      try branch.waitUntil("the socket exists again") {
        files.fileExists(atPath: "\(branch.home)/run/web.sock")
      }
      try branch.expectClean()
      try branch.runSuccessfully("stop", "--now")
    }
  }
}
