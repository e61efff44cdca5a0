// Chaos command with several branches and its own server: it must finish cleanly, print every field, and leave nothing.
import Foundation
import Testing

@Suite("Chaos with branches", .serialized)
struct SharedChaosTests {
  @Test(
    "every kind of fault to two branches and their server: every guarantee and field holds, nothing is left"
  )
  func everything() throws {
    try withScratchBank { branch in
      let outcome = try branch.launch(
        [
          "chaos", "--branches", "2", "--max-kills", "10", "--interval", "400ms", "--for", "25s", "--seed",
          "3",
          "--json",
        ]
      ).finish(within: .seconds(150))
      #expect(outcome.code == 0, outcome.story)
      let report = try outcome.json()
      for field in [
        "version", "seed", "branches", "elapsed_ms", "cut_by_network", "cut_by_relay", "acknowledged",
        "receipts",
        "lost", "duplicated", "money_difference", "orphans", "reserved", "snapshot_ms",
      ] {
        #expect(report[field].integer != nil, "\(field): \(report)")
      }
      let acts = [
        "teller", "coordinator", "branch", "session", "backend", "stop", "server", "partition", "zombie",
      ]
      let runSuccessfully = acts.map { report["kills"][$0].integer ?? -1 }
      #expect(
        runSuccessfully.allSatisfy { $0 >= 0 } && (3...10).contains(runSuccessfully.reduce(0, +)), "\(report)"
      )
      #expect(report["ok"].flag == true && report["lost"].integer == 0 && report["duplicated"].integer == 0)
      #expect(report["acknowledged"].integer ?? 0 > 0)
      // A session that is refused or cannot be opened would end at once.
      #expect(report["snapshot_ms"].integer ?? 0 >= 500, "\(report)")
      #expect(report["acknowledged"].integer == report["receipts"].integer)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("conflicting options are refused before anything is created")
  func refused() throws {
    try withScratchBank { branch in
      for arguments in [
        ["--branches", "1"], ["--branches", "10"], ["--store", "postgres://db.invalid/bank"],
        ["--branches", "2", "--stop"], ["--branches", "2", "--home", branch.home],
        ["--branches", "2", "--targets", "web"],
        ["--branches", "2", "--store", "postgres://db.invalid/bank", "--targets", "partition"],
      ] {
        let outcome = try branch.launch(["chaos"] + arguments).finish()
        #expect(outcome.code == 2, outcome.story)
      }
      try branch.expectNoProcessesLeft()
    }
  }
}
