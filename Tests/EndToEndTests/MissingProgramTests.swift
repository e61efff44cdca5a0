// An installation in which a program is missing or cannot be run: whoever opens a bank is told which, at once, and
// nothing is left running.
import Foundation
import Glibc
import Testing

@Suite("Missing programs", .serialized)
struct MissingProgramTests {
  private static let programs = ["bankctl", "bankd", "bank-teller", "bank-guardian"]

  @Test("a missing program is named", arguments: programs.dropFirst())
  func missing(name: String) throws {
    try withInstallation(without: name) { branch, bankctl in
      for words in [["start"], ["open", "--customers", "1"], ["start", "--foreground"]] {
        // A bank in the foreground is its own guardian.
        guard name != "bank-guardian" || words == ["start"] else { continue }
        let outcome = try branch.launch(words, program: bankctl).finish(within: .seconds(10))
        #expect(outcome.code == 1 && outcome.err.contains(name), outcome.story)
        try branch.expectNobodyLeft()
      }
      let outcome = try branch.launch(["start", "--json"], program: bankctl).finish()
      #expect(outcome.code == 1, outcome.story)
      #expect(try outcome.json().differences(from: Samples.error) == [])
    }
  }

  @Test("a program that may not be run is no program", arguments: programs.dropFirst())
  func notExecutable(name: String) throws {
    try withInstallation(without: name) { branch, bankctl in
      let place = (bankctl as NSString).deletingLastPathComponent + "/" + name
      try Data("not a program".utf8).write(to: URL(fileURLWithPath: place))
      let outcome = try branch.launch(["start"], program: bankctl).finish(within: .seconds(10))
      #expect(outcome.code == 1 && outcome.out == "", outcome.story)
      try branch.expectNobodyLeft()
    }
  }

  private func withInstallation(without name: String, _ test: (Branch, String) throws -> Void) throws {
    try withBranch { branch in
      let place = branch.path("programs")
      mkdir(place, 0o700)
      for program in Self.programs where program != name {
        // A link is quicker, where it does not cross a file system.
        guard link("\(Binaries.directory)/\(program)", "\(place)/\(program)") != 0 else { continue }
        try FileManager.default.copyItem(
          atPath: "\(Binaries.directory)/\(program)", toPath: "\(place)/\(program)")
      }
      try test(branch, place + "/bankctl")
    }
  }
}
