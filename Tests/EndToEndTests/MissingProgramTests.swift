// Installation with a missing or unusable program: opening a bank names it at once, and leaves no process.
import Foundation
import Glibc
import Testing

@Suite("Missing programs", .serialized)
struct MissingProgramTests {
  /// Programs without which no bank opens. It opens without its stock, and an order of juice reports the reason.
  private static let needed = ["bankd", "bank-teller", "bank-guardian", "bank-juice"]

  @Test("a missing program is named", arguments: needed)
  func missing(name: String) throws {
    try withInstallation(without: name) { branch, bankctl in
      for arguments in [["start"], ["open", "--customers", "1"], ["start", "--foreground"]] {
        // A bank in the foreground is its own guardian, and a day of the original has no juice.
        guard name != "bank-guardian" || arguments == ["start"],
          name != "bank-juice" || arguments[0] == "start"
        else {
          continue
        }
        let outcome = try branch.launch(arguments, program: bankctl).finish(within: .seconds(10))
        #expect(outcome.code == 1 && outcome.err.contains(name), outcome.story)
        try branch.expectNoProcessesLeft()
      }
      let outcome = try branch.launch(["start", "--json"], program: bankctl).finish()
      #expect(outcome.code == 1, outcome.story)
      #expect(try outcome.json().differences(from: Samples.error) == [])
    }
  }

  @Test("a program without execute permission counts as missing", arguments: needed)
  func notExecutable(name: String) throws {
    try withInstallation(without: name) { branch, bankctl in
      let place = (bankctl as NSString).deletingLastPathComponent + "/" + name
      try Data("not a program".utf8).write(to: URL(fileURLWithPath: place))
      let outcome = try branch.launch(["start"], program: bankctl).finish(within: .seconds(10))
      #expect(outcome.code == 1 && outcome.out == "", outcome.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "without the program of the stock the bank opens and serves, and an order of juice names what is missing"
  )
  func withoutStock() throws {
    try withInstallation(without: "bank-stockd") { branch, bankctl in
      let started = try branch.launch(["start", "--speed", "max"], program: bankctl).finish()
      #expect(started.code == 0, started.story)
      try branch.runSuccessfully("enqueue", "5", "--wait")
      let refused = try branch.run("juice", "order", "banana", "--timeout", "300ms")
      #expect(refused.code == 75 && refused.err.contains("bank-stockd"), refused.story)
      #expect(try branch.status().worker("stock")?.pid == 0)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("without the chaos program every other command works, and chaos reports the remedy")
  func withoutChaos() throws {
    try withInstallation(without: "bank-chaos") { branch, bankctl in
      for (outputLanguage, advice) in [
        (OutputLanguage.en, "install all programs together"), (.ko, "함께 빌드하거나 설치하세요"),
      ] {
        let outcome = try branch.launch(["chaos"], program: bankctl, language: outputLanguage).finish()
        #expect(outcome.code == 1 && outcome.err.contains("programs/bank-chaos"), outcome.story)
        #expect(outcome.err.replacing("\n", with: " ").contains(advice), outcome.story)
      }
      #expect(try branch.launch(["chaos", "--help"], program: bankctl).finish().code == 0)
    }
  }

  private func withInstallation(without name: String, _ test: (ScratchBank, String) throws -> Void) throws {
    try withScratchBank { branch in
      let place = branch.path("programs")
      try Binaries.install(Binaries.names.filter { $0 != name }, in: place)
      try test(branch, place + "/bankctl")
    }
  }
}
