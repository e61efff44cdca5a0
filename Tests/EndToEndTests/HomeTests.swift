// Place of a home: one coordinator for each home at any path, and nothing left if it cannot open.
import Foundation
import Glibc
import Testing

@Suite("Homes", .serialized)
struct HomeTests {
  @Test(
    "a bank works in any directory, also one whose path is too long for a socket address",
    arguments: ["with a space", "한국은행", String(repeating: "long/", count: 40) + "home"])
  func anyPath(name: String) throws {
    try withScratchBank { branch in
      let home = branch.path(name)
      try branch.runSuccessfully("start", "--home", home, "--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--wait", "--home", home)
      #expect(try branch.lines("receipts", "--home", home).count == 3)
      #expect(try branch.json("stop", "--home", home)["served"].integer == 3)
      #expect(try branch.json("audit", "--home", home)["ok"].flag == true)
    }
  }

  @Test("the default home is below XDG_STATE_HOME, or else below the user's own directory")
  func standardPlace() throws {
    try withScratchBank { branch in
      let state = branch.path("state")
      mkdir(state, 0o700)
      let places = [(["XDG_STATE_HOME": state], state), ([:], branch.path("elsewhere/.local/state"))]
      for (environment, place) in places {
        let variables = environment.merging(["BANK_HOME": ""]) { $1 }
        let started = try branch.launch(["start", "--speed", "max"], environment: variables).finish()
        #expect(started.code == 0, started.story)
        #expect(FileManager.default.fileExists(atPath: "\(place)/bank/bank.db"))
        #expect(try branch.launch(["stop"], environment: variables).finish().code == 0)
      }
    }
  }

  @Test("of many concurrent starts exactly one opens the bank")
  func race() throws {
    try withScratchBank { branch in
      for _ in 1...3 {
        let starts = try (1...5).map { _ in try branch.launch(["start", "--json", "--speed", "max"]) }
        let outcomes = try starts.map { try $0.finish() }
        #expect(outcomes.count { $0.code == 0 } == 1, "\(outcomes)")
        #expect(outcomes.allSatisfy { [0, 5].contains($0.code) }, "\(outcomes)")
        #expect(try branch.status().tellers.count == 3)
        try branch.runSuccessfully("stop")
        try branch.expectNoProcessesLeft()
      }
    }
  }

  @Test("reading a closed bank and opening it at once do not disturb each other")
  func lookAndOpen() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.runSuccessfully("stop")
      for _ in 1...5 {
        try branch.runSuccessfully("receipts", "--day", "all")
        try branch.start("--speed", "max")
        let look = try branch.launch(["audit"])
        try branch.runSuccessfully("stop")
        let seen = try look.finish()
        #expect(seen.code == 0, "\(seen)")
      }
    }
  }

  @Test("start waits for a reader of the closed bank, and never mistakes it for an open bank")
  func startAmongLookers() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      try branch.runSuccessfully("stop")
      let looking = "while :; do said=$('\(Binaries.bankctl)' audit 2>&1) || echo \"$? $said\"; done"
      let lookers = try (1...2).map { _ in try branch.launch(["-c", looking], program: "/bin/sh") }
      for _ in 1...10 {
        try branch.runSuccessfully("start", "--speed", "max")
        try branch.runSuccessfully("stop")
      }
      try branch.runSuccessfully("open", "--customers", "2", "--speed", "max")
      for looker in lookers {
        #expect(looker.lines == [], "audits with another exit code than 0")
        looker.end()
      }
    }
  }

  @Test("a program that reads the database of a closed bank delays its start, and is named as the reason")
  func otherReader() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop")
      let script = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM sqlite_master").fetchall()
        print("reading", flush=True)
        open(sys.argv[2]).read()
        """
      let reader = try branch.launch(
        ["-c", script, branch.home + "/bank.db", branch.heldPipe()], program: "/usr/bin/python3")
      try branch.waitUntil("the program reads") { reader.lines == ["reading"] }
      try branch.expectRefusal(75, "home_locked", of: "start", "--speed", "max")
      reader.end()
      try branch.start("--speed", "max")
    }
  }

  @Test("start gives up after a while if a reader stays: try later, and no process is left")
  func startAgainstLooker() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop")
      let lock = open(branch.home + "/bank.lock", O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      try #require(flock(lock, LOCK_SH | LOCK_NB) == 0)
      try branch.expectRefusal(75, "home_locked", of: "start", "--speed", "max")
      try branch.expectRefusal(75, "home_locked", of: "open", "--speed", "max", "--customers", "1")
      try branch.expectNoProcessesLeft()
      try #require(flock(lock, LOCK_UN) == 0)
      try branch.start("--speed", "max")
    }
  }

  @Test("tellers that exit before ready are restarted for a while; then start fails with the reason")
  func brokenTeller() throws {
    try withScratchBank { branch in
      let bankctl = try programs(of: branch, teller: "#!/bin/sh\nexit 7\n")
      let outcome = try branch.launch(["start"], program: bankctl).finish(within: .seconds(60))
      #expect(outcome.code == 1, outcome.story)
      #expect(outcome.err.contains("code 7"), "the exit code is in the message: \(outcome.err)")
      try branch.expectNoProcessesLeft()
      let deaths = branch.events("exit", in: "coordinator").count { $0["code"] == "7" }
      #expect((1...60).contains(deaths), "restarts are throttled: \(deaths)")
      #expect(
        Status(try branch.start("--speed", "max")).state == "open", "with its teller back the bank opens")
    }
  }

  @Test("tellers that cannot be started: start and open report it at once, in both languages")
  func missingTeller() throws {
    try withScratchBank { branch in
      let bankctl = try programs(of: branch, teller: nil)
      for arguments in [["start"], ["start", "--foreground"], ["open", "--customers", "1"]] {
        for outputLanguage in OutputLanguage.allCases {
          let outcome = try branch.launch(arguments, program: bankctl, language: outputLanguage).finish()
          #expect(outcome.code == 1, outcome.story)
          #expect(outcome.err.contains("bank-teller") && outcome.err.contains("ENOENT"), outcome.story)
        }
      }
      let document = try branch.launch(["start", "--json"], program: bankctl).finish()
      #expect(try document.json()["error"]["code"].text == "start_failed", document.story)
      try branch.expectNoProcessesLeft()
    }
  }

  /// Installs programs with another teller and returns the path of bankctl. A child process writes them: a file that
  /// this process or one that has inherited its descriptors has open for writing cannot be executed (ETXTBSY).
  private func programs(of branch: ScratchBank, teller: String?) throws -> String {
    let place = branch.path("programs")
    let text = try branch.write(teller ?? "", to: "teller")
    let ours = Binaries.names.filter { $0 != "bank-teller" }.map { "'\(Binaries.directory)/\($0)'" }
      .joined(separator: " ")
    let copy = "mkdir '\(place)' && cp \(ours) '\(place)'"
    let add =
      teller == nil ? "" : " && cp '\(text)' '\(place)/bank-teller' && chmod 700 '\(place)/bank-teller'"
    let outcome = try branch.launch(["-c", copy + add], program: "/bin/sh").finish()
    try #require(outcome.code == 0, outcome.story)
    return place + "/bankctl"
  }

  @Test("a stale socket of a killed bank does not prevent a start")
  func staleSocket() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.killCoordinator()
      #expect(FileManager.default.fileExists(atPath: "\(branch.home)/run/bank.sock"))
      try branch.expectRefusal(3, "not_open", of: "enqueue", "1")
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--wait")
    }
  }
}
