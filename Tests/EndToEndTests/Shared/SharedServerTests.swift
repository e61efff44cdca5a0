// Shared bank with trouble at the server or on the way to it: stopped, killed, cut off, full, or with old snapshots;
// and a branch that is stopped beyond its lease, or whose clock is wrong.
import Foundation
import Glibc
import Postgres
import PostgresFixture
import Testing

@Suite("Branches, and trouble with their server", .serialized)
struct SharedServerTests {
  /// Ways in which the server ends.
  enum End: CaseIterable { case stoppedAtOnce, killed }

  @Test("the server ends and starts again: the branches continue by themselves", arguments: End.allCases)
  func serverEnds(end: End) throws {
    try withSharedBank { bank, branches in
      for branch in branches { try bank.open(branch, speed: "50") }
      let enqueue = try branches[1].launch(["enqueue", "600", "--key", "many"])
      for round in 1...2 {
        try branches[0].waitUntil("some customers are served") { bank.receipts >= round * 50 }
        switch end {
        case .stoppedAtOnce: try bank.cluster.stopAtOnce()
        case .killed: try bank.cluster.killServer()
        }
        try bank.cluster.start()
        let up = wallMilliseconds()
        let before = bank.receipts
        // On a busy machine all of them may be served before this test reads the number.
        try branches[0].waitUntil("the branches continue") {
          let served = bank.receipts
          return served > before || served == 600
        }
        print("the server is back; the first receipt comes after \(wallMilliseconds() - up) ms or sooner")
      }
      #expect(try enqueue.finish().code == 0)
      try bank.expectAllServed(600, by: branches)
      for branch in branches {
        let ended = branch.events("exit", in: "coordinator").filter { $0["worker"] == "coordinator" }
        #expect(ended.isEmpty, "no coordinator was restarted")
      }
    }
  }

  @Test("a wait for tickets continues while the server is away")
  func waitsOn() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let branch = branches[0]
      try bank.open(branch, speed: "20")
      let enqueue = try branch.launch(["enqueue", "60", "--wait"])
      try branch.waitUntil("some customers are served") { bank.receipts >= 5 }
      try bank.cluster.killServer()
      // Answers come in the order of requests, so the tickets were also requested meanwhile.
      for _ in 1...2 {
        try branch.waitUntil("the database cannot be read") {
          try branch.launch(["ticket", "1"]).finish().code != 0
        }
      }
      try bank.cluster.start()
      #expect(try enqueue.finish(within: .seconds(60)).code == 0)
      try bank.expectAllServed(60, by: branches)
    }
  }

  @Test("a branch stopped for longer than its lease continues: none of its late writes has an effect")
  func zombie() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      try bank.open(a, speed: "10")
      try a.runSuccessfully("enqueue", "100")
      let id = try bank.id(of: a)
      try b.waitUntil("the branch has claimed customers") { bank.inHand(of: id) > 20 }
      let pid = try a.status().pid
      try #require(a.processes.signal(pid, SIGSTOP))
      try bank.open(b)
      try b.waitUntil("the other branch has served all of them", within: .seconds(20)) {
        bank.number("SELECT count(*) FROM bank.customer") == 0
      }
      #expect(bank.epoch(of: id) == 2)
      try #require(a.processes.signal(pid, SIGCONT))
      try b.waitUntil("the branch has noticed it and joined again") { bank.epoch(of: id) == 3 }
      try a.waitUntil("the branch logs the lost lease") {
        a.events("lease_lost", in: "coordinator").count == 1
      }
      #expect(try a.status().pid == pid)
      try a.runSuccessfully("enqueue", "50")
      try bank.expectAllServed(150, by: branches)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE branch = \(id) AND epoch = 2") == 0)
    }
  }

  @Test("a branch cut off from the server beyond its lease: the others serve, and later it joins again")
  func partition() throws {
    try withSharedBank { bank, branches in
      let (a, b) = (branches[0], branches[1])
      let relay = try RelayThread(to: bank.cluster)
      defer { relay.end() }
      try bank.open(
        a, speed: "10",
        address: bank.cluster.address().replacing(bank.cluster.directory, with: relay.directory))
      try a.runSuccessfully("enqueue", "100")
      let id = try bank.id(of: a)
      try b.waitUntil("the branch has claimed customers") { bank.inHand(of: id) > 20 }
      relay.isSilent = true
      try bank.open(b)
      try b.waitUntil("the other branch has served all of them", within: .seconds(20)) {
        bank.number("SELECT count(*) FROM bank.customer") == 0
      }
      try a.waitUntil("the branch has noticed it by itself") {
        a.events("lease_lost", in: "coordinator").count == 1
      }
      // Until it has joined again, the branch takes no customers.
      relay.isSilent = false
      try b.waitUntil("the branch has joined again") { bank.epoch(of: id) == 3 }
      try a.runSuccessfully("enqueue", "50")
      try bank.expectAllServed(150, by: branches)
      #expect(bank.number("SELECT count(*) FROM bank.receipt WHERE branch = \(id) AND epoch = 2") == 0)
    }
  }

  @Test(
    "the server's disk is full: tickets are refused with the reason, and with space all customers are served",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func fullDisk() throws {
    try withSharedBank { bank, branches in
      let a = branches[0]
      let place = bank.cluster.directory + "/small"
      let disk = try SmallDisk(kibibytes: 32 << 10, under: a, at: place)
      var facts = stat()
      try #require(stat(bank.cluster.directory, &facts) == 0 && chown(place, facts.st_uid, facts.st_gid) == 0)
      let client = try PostgresClient.connected(bank.cluster.address())
      try client.run("CREATE TABLESPACE small LOCATION '\(place)'", "CREATE DATABASE small TABLESPACE small")
      let small = SharedBank(bank.cluster, address: bank.cluster.address("small"))
      func number(_ text: String) -> Int? { small.number(text, at: small.address) }
      for branch in branches { try small.open(branch, speed: "1000") }
      var issued = 0
      try a.runSuccessfully("enqueue", "500")
      issued += 500
      try disk.fill()
      var refusal: Outcome?
      try a.waitUntil("a request is refused") {
        let outcome = try a.launch(["enqueue", "2000", "--json"]).finish(within: .seconds(60))
        if outcome.code == 0 { issued += 2_000 } else { refusal = outcome }
        return outcome.code != 0
      }
      #expect(refusal?.code == 75, refusal?.story ?? "")
      #expect(try refusal?.json()["error"]["code"].text == "disk_full", refusal?.story ?? "")
      disk.makeRoom()
      try a.waitUntil("customers are accepted again") { try a.run("enqueue", "10").code == 0 }
      issued += 10
      try a.waitUntil("all customers are served", within: .seconds(40)) {
        number("SELECT count(*) FROM bank.customer") == 0
      }
      #expect(number("SELECT count(*) FROM bank.receipt") == issued)
      #expect(try a.launch(["audit", "--json"]).finish().json()["ok"].flag == true)
      for branch in branches { try branch.runSuccessfully("stop") }
    }
  }

  @Test(
    "the record of the database comes back with its directory, and the next coordinator knows the database")
  func recordRemoved() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let branch = branches[0]
      let path = "\(branch.home)/run/database"
      func record() -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
      /// The record without its count of commits, which alone changes while the bank is idle.
      func known() -> [Substring] { (record() ?? "").split(whereSeparator: \.isWhitespace).dropLast(2) }
      try bank.open(branch, speed: "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.waitUntil("the last ticket is recorded") { known().dropLast().last == "3" }
      let former = known()
      try branch.waitUntil("the directory is removed") {
        try? FileManager.default.removeItem(atPath: "\(branch.home)/run")
        return record() == nil
      }
      try branch.waitUntil("the record is there again") { known() == former }
      try branch.waitUntil("the branch says so") {
        branch.events("home_repaired", in: "coordinator").contains {
          $0["msg"]?.components(separatedBy: ", ").contains("database") == true
        }
      }
      try branch.killCoordinator()
      try bank.open(branch, speed: "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try bank.expectAllServed(6, by: branches)
      try branch.runSuccessfully("stop")
    }
  }

  @Test("a snapshot is held open while twenty thousand customers are served")
  func snapshot() throws {
    try withSharedBank { bank, branches in
      for branch in branches { try bank.open(branch, speed: "max") }
      let reader = try PostgresClient.connected(bank.cluster.address())
      try reader.rows(.once("BEGIN ISOLATION LEVEL REPEATABLE READ"))
      try reader.rows(.once("SELECT count(*) FROM bank.customer"))
      try branches[0].runSuccessfully("enqueue", "20000")
      try bank.expectAllServed(20_000, by: branches, within: .seconds(50))
      #expect(
        try reader.rows(.once("SELECT count(*) FROM bank.receipt"))[0].integer(0, 0) == 0,
        "the snapshot is still the old one")
      try reader.rows(.once("ROLLBACK"))
    }
  }

  @Test("branch clocks wrong by hours: no customer waits longer, and records have the database's time")
  func clocks() throws {
    try withSharedBank(branches: 3) { bank, branches in
      let library = Binaries.besideTests("libSlowDisk.so")
      try #require(access(library, R_OK) == 0, "\(library) was not built")
      let clocks = [5, -3, 0].map { ["LD_PRELOAD": library, "WRONG_CLOCK": "\($0 * 3_600)"] }
      for (branch, clock) in zip(branches, clocks) { try bank.open(branch, environment: clock) }
      let began = wallMilliseconds()
      for (branch, clock) in zip(branches, clocks) {
        for arguments in [["enqueue", "100"], ["enqueue", "5", "--in", "1s"]] {
          let outcome = try branch.launch(arguments, environment: clock).finish()
          #expect(outcome.code == 0, outcome.story)
        }
      }
      try bank.expectAllServed(315, by: branches)
      let ended = wallMilliseconds()
      let times = try bank.rows(
        "SELECT min(issued_ms), min(started_ms), max(finished_ms), count(*) FILTER (WHERE started_ms < issued_ms) FROM bank.receipt"
      )
      #expect(times.integer(0, 0).map(Int.init) ?? 0 >= began - 2_000, "issued")
      #expect(times.integer(0, 1).map(Int.init) ?? 0 >= began - 2_000, "started")
      #expect(times.integer(0, 2).map(Int.init) ?? .max <= ended + 2_000, "finished")
      for branch in branches { #expect(branch.events("lease_lost", in: "coordinator").isEmpty) }
    }
  }
}
