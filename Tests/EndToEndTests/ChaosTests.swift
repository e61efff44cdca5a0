// Chaos command with real processes: it must finish cleanly, print every promised field, and leave nothing behind.
import Foundation
import Testing

@Suite("Chaos", .serialized)
struct ChaosTests {
  private static let sample = [
    "version", "seed", "acknowledged", "receipts", "lost", "duplicated", "order_violations",
    "money_difference", "stock_difference",
    "orphans", "attempts", "cancelled", "work_deviations", "juices", "sent_away", "deliveries",
    "changes_watched", "page_events",
  ]

  @Test(
    "forty kills of all processes, with stops and cuts: every guarantee holds, and nothing is left"
  )
  func allProcesses() throws {
    try withScratchBank { branch in
      let scratch = branch.path("scratch")
      mkdir(scratch, 0o700)
      let outcome = try branch.launch(
        [
          "chaos", "--max-kills", "40", "--for", "10m", "--interval", "60ms", "--stop", "--cut", "--juice",
          "2",
          "--seed", "11", "--json",
        ],
        environment: ["TMPDIR": scratch]
      ).finish(within: .seconds(150))
      #expect(outcome.code == 0, outcome.story)
      let report = try outcome.json()
      for field in Self.sample { #expect(report[field].integer != nil, "\(field): \(report)") }
      #expect(report["seed"].integer == 11 && report["version"].integer == 1)
      let victims = [
        "teller", "coordinator", "guardian", "stock", "juice", "vending", "runner", "command", "descendant",
        "worker", "outside", "web",
      ]
      let kills = victims.map { report["kills"][$0].integer ?? -1 }
      #expect(kills.allSatisfy { $0 >= 0 } && kills.reduce(0, +) >= 40, "\(report)")
      #expect(kills[6...].reduce(0, +) > 0 && report["attempts"].integer ?? 0 > 0, "\(report)")
      #expect(report["work_deviations"].integer == 0, "\(report)")
      #expect(report["stock_difference"].integer == 0, "\(report)")
      #expect(report["juices"].integer ?? 0 > 0 && report["changes_watched"].integer ?? 0 > 0, "\(report)")
      #expect(report["acknowledged"].integer == report["receipts"].integer)
      #expect(report["acknowledged"].integer ?? 0 > 0)
      for name in ["p50", "p99", "max"] {
        for times in ["reserve_ms", "recover_ms", "page_ms"] where report[times]["count"].integer ?? 0 > 0 {
          #expect(report[times][name].integer ?? -1 >= 0, "\(report)")
        }
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: scratch) == [], "the scratch home is removed")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("bankctl executes the chaos program: one process, which receives Ctrl-C and finishes cleanly")
  func becomes() throws {
    try withScratchBank { branch in
      let scratch = branch.path("scratch")
      mkdir(scratch, 0o700)
      let run = try branch.launch(
        ["--json", "chaos", "--seed=12", "--interval", "50ms", "--targets", "tellers"],
        environment: ["TMPDIR": scratch])
      try branch.waitUntil("the chaos program has replaced bankctl") {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(run.pid)/exe")
        return program?.hasSuffix("/bank-chaos") == true
      }
      try branch.waitUntil("customers have come") { run.errors.contains("tickets") }
      kill(-run.pid, SIGINT)
      let outcome = try run.finish(within: .seconds(60))
      #expect(outcome.code == 0, outcome.story)
      let report = try outcome.json()
      #expect(report["seed"].integer == 12 && report["kills"]["coordinator"].integer == 0, "\(report)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch) == [])
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a kind of process whose windows are closed is not chosen, and a run without any other is refused")
  func closedWindows() throws {
    try withScratchBank { branch in
      let scratch = branch.path("scratch")
      mkdir(scratch, 0o700)
      func run(_ options: String...) throws -> Outcome {
        try branch.launch(
          ["chaos", "--seed", "5", "--interval", "50ms", "--max-kills", "6", "--json"] + options,
          environment: ["TMPDIR": scratch]
        ).finish(within: .seconds(100))
      }
      let outcome = try run("--juice", "0", "--targets", "juice,tellers")
      #expect(outcome.code == 0, outcome.story)
      let report = try outcome.json()
      #expect(report["kills"]["juice"].integer == 0 && report["kills"]["teller"].integer == 6, "\(report)")
      let closed = [["--juice=0", "--targets=juice"], ["--deposit=0", "--loan=0", "--targets=teller"]]
      for options in closed {
        let refused = try branch.launch(
          ["chaos", "--json"] + options, environment: ["TMPDIR": scratch]
        ).finish(within: .seconds(100))
        #expect(refused.code == 2, refused.story)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch) == [], "no home is left")
    }
  }

  @Test("a given home is kept, its customers are not counted, and an open bank is refused")
  func ownHome() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.expectRefusal(5, "already_open", of: "chaos", "--home", branch.home, "--max-kills", "1")
      try branch.runSuccessfully("stop")
      let arguments = [
        "chaos", "--home", branch.home, "--customers", "30", "--interval", "50ms", "--targets", "tellers",
      ]
      let outcome = try branch.launch(arguments + ["--json"]).finish(within: .seconds(60))
      #expect(outcome.code == 0, outcome.story)
      let report = try outcome.json()
      #expect(report["acknowledged"].integer == 30 && report["receipts"].integer == 30, "\(report)")
      #expect(report["kills"]["coordinator"].integer == 0)
      #expect(try branch.lines("receipts", "--day", "all").count == 35)
    }
  }
}
