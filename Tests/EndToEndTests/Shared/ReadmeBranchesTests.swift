// Commands of the README for several machines, typed at a shell in a terminal, with a separate server: two branches
// open, the server is killed, and all guarantees hold.
import BranchFixture
import Foundation
import PostgresFixture
import Testing

@Suite("Branches of the README", .enabled(if: PostgresCluster.isInstalled))
struct ReadmeBranchesTests {
  @Test("the branches open as typed, and after a kill of the server every ticket has one receipt")
  func replay() throws {
    let steps = try Tour.ofReadme().steps.filter { $0.section == Tour.severalMachines }
    #expect(steps.contains { $0.shown.contains("Every guarantee that can be checked holds.") })
    try withScratchBank { branch in
      // The user of the server may not enter the test's directory, so it has one that every user may enter.
      let place = "/var/tmp/bank-pg"
      let server = "/tmp/bank-pg-" + (branch.home.split(separator: "-").last?.prefix { $0 != "/" } ?? "")
      branch.atClose { try? FileManager.default.removeItem(atPath: server) }
      #expect(steps.contains { $0.command.contains(place) })
      let shell = try TourShell(branch)
      for var step in steps {
        step.command.replace(place, with: server)
        step.shown = step.shown.map { $0.replacing(place, with: server) }
        try shell.follow(step)
      }
      try shell.end()
      try branch.waitUntil("no process is left", within: .seconds(10)) { branch.processes.all().isEmpty }
    }
  }
}
