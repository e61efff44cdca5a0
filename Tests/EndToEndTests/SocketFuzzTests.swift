// Program that attacks a coordinator through its socket: it passes a bank that survives, and fails for one that dies,
// with the last attacks.
import Foundation
import Glibc
import Testing

@Suite("Attacks on the socket", .serialized)
struct SocketFuzzTests {
  private static let program = Binaries.directory + "/bank-fuzz"

  @Test("a coordinator under attack stays the same process, serves a normal client, and closes cleanly")
  func stands() throws {
    var chance = Chance(for: "SocketFuzzTests/stands")
    try withScratchBank { branch in
      mkdir(branch.path("fuzz"), 0o700)
      let arguments = [branch.path("fuzz"), "--for", "3s", "--seed", "\(chance.next() >> 40)"]
      let outcome = try branch.launch(arguments, program: Self.program).finish(within: .seconds(120))
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.out.contains("messages a second") && outcome.out.contains(arguments[4]), outcome.story)
      #expect(outcome.out.contains("is clean"), outcome.story)
      try branch.expectNoProcessesLeft()
      let home = branch.path("fuzz") + "/home"
      #expect(try branch.json("audit", "--home", home)["ok"].flag == true)
    }
  }

  @Test("a coordinator that dies under attack is reported: exit code 1, seed, exit status, last attacks")
  func falls() throws {
    try withScratchBank { branch in
      mkdir(branch.path("fuzz"), 0o700)
      let home = branch.path("fuzz") + "/home"
      let run = try branch.launch([branch.path("fuzz"), "--for", "60s", "--seed=7"], program: Self.program)
      try branch.waitUntil("a customer was served") {
        let outcome = try branch.run("status", "--json", "--home", home)
        return try outcome.code == 0 && (outcome.json()["queue"]["served"].integer ?? 0) > 0
      }
      let pid = try #require(try branch.json("status", "--home", home)["bank"]["pid"].integer)
      branch.processes.signal(pid, SIGKILL)
      let outcome = try run.finish()
      #expect(outcome.code == 1 && outcome.err.contains("has exited"), outcome.story)
      #expect(outcome.err.contains("SIGKILL") && outcome.err.contains("the seed was 7"), outcome.story)
      #expect(FileManager.default.fileExists(atPath: branch.path("fuzz/found")))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("wrong arguments are refused before a bank is opened")
  func usage() throws {
    try withScratchBank { branch in
      for arguments in [
        [], ["relative"], ["/tmp", "--for"], ["/tmp", "--for", "5"], ["/tmp", "--for", "-1s"],
        ["/tmp", "--seed", "x"], ["/tmp", "--sead", "1"],
      ] {
        let outcome = try branch.launch(arguments, program: Self.program).finish()
        #expect(outcome.code == 2 && outcome.out.isEmpty && !outcome.err.isEmpty, outcome.story)
      }
      try branch.expectNoProcessesLeft()
    }
  }
}
