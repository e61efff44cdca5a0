// First command with real scripts and a fake swift: it waits only for a quick build, and the optimized set replaces it
// without further action.
import Foundation
import Glibc
import Testing

@Suite("First run")
struct FirstRunTests {
  @Test(
    "the first command runs the quick build, and the optimized programs replace it when they are complete"
  )
  func takesOver() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "fast")
      let first = try checkout.run("bankctl", "status")
      #expect(first.code == 0 && first.out.hasPrefix("quick "), first.story)
      #expect(first.err.contains("half a minute") && first.err.contains("MB of disk"), first.story)
      #expect(first.err.contains("without optimization") && first.err.contains("background"), first.story)
      // A command started meanwhile neither waits nor builds, and prints nothing to standard error.
      try checkout.waitForBuilds(2)
      let second = try checkout.run("bankctl", "status")
      #expect(second.out == first.out && second.errorsWithoutProgress == "", second.story)
      #expect(checkout.builds == ["quick", "fast"])

      try checkout.clearBehaviour("hold", "fast")
      try checkout.waitForBackground()
      let identity = first.out.dropFirst("quick ".count)
      for _ in 0..<2 {
        let later = try checkout.run("bankctl", "status")
        #expect(later.out == "fast \(identity)" && later.errorsWithoutProgress == "", later.story)
      }
      #expect(checkout.builds == ["quick", "fast"])
      // A bank that was started from the quick set keeps using it.
      #expect(checkout.sets.count == 2, "\(checkout.sets)")
    }
  }

  @Test("two commands at once build once, and the waiting one reports it")
  func twoAtOnce() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "quick")
      let pair = try [checkout.launch("bankctl", "status"), checkout.launch("bankctl", "status")]
      try checkout.branch.waitUntil("one command waits for the other") {
        pair.contains { $0.errors.contains("already running") } && checkout.builds == ["quick"]
      }
      try checkout.clearBehaviour("hold", "quick")
      for program in pair {
        let outcome = try program.finish()
        // The optimized set may exist by then; in any case swift was started once for each set.
        #expect(outcome.code == 0 && outcome.out.contains(" "), outcome.story)
      }
      try checkout.waitForBuilds(2)
      try checkout.waitForBackground()
      #expect(checkout.builds == ["quick", "fast"])
    }
  }

  @Test("every command reports a failed background build, which is not repeated before the sources change")
  func failingBackground() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("fail", "fast")
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("quick "))
      try checkout.waitForBuilds(2)
      try checkout.waitForBackground()
      for _ in 0..<3 {
        let outcome = try checkout.run("bankctl", "status")
        #expect(outcome.code == 0 && outcome.out.hasPrefix("quick "), outcome.story)
        #expect(outcome.err.contains("failed") && outcome.err.contains(".build/fast.log"), outcome.story)
      }
      #expect(checkout.builds == ["quick", "fast"])
      let log = try String(contentsOfFile: "\(checkout.root)/.build/fast.log", encoding: .utf8)
      #expect(log.contains("error: it is broken"), "\(log)")

      // An explicit build prints the reason, and succeeds once the reason is gone.
      let asked = try checkout.run("build", "release")
      #expect(asked.code == 1 && asked.err.contains("error: it is broken"), asked.story)
      try checkout.clearBehaviour("fail", "fast")
      try checkout.changeSources()
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("quick "))
      try checkout.waitForBuilds(5)
      try checkout.waitForBackground()
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("fast "))
      #expect(checkout.builds == ["quick", "fast", "fast", "quick", "fast"])
    }
  }

  @Test("an optimized program that contains a planted bug is refused")
  func plantedBug() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("mutant", "fast")
      let refused = try checkout.run("build", "release")
      #expect(refused.code == 1 && refused.err.contains("A planted bug is in:"), refused.story)
      #expect(checkout.sets == [])
      try checkout.clearBehaviour("mutant", "fast")
      #expect(try checkout.run("build", "release").code == 0 && checkout.sets.count == 1)
    }
  }

  @Test("a background build that was killed restarts, at most three times")
  func killedBackground() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "fast")
      for count in 2...4 {
        #expect(try checkout.run("bankctl", "status").out.hasPrefix("quick "))
        try checkout.waitForBuilds(count)
        for pid in checkout.branch.processes.all() { checkout.branch.processes.signal(pid, SIGKILL) }
        try checkout.branch.expectNoProcessesLeft()
      }
      let outcome = try checkout.run("bankctl", "status")
      #expect(outcome.out.hasPrefix("quick ") && outcome.err.contains("failed"), outcome.story)
      #expect(checkout.builds == ["quick", "fast", "fast", "fast"])
    }
  }

  @Test("compiler errors are printed, and a script gets `build_failed`")
  func compilerError() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("fail", "quick")
      let outcome = try checkout.run("bankctl", "status", "--json")
      #expect(outcome.code == 1 && outcome.err.contains("error: it is broken"), outcome.story)
      #expect(!outcome.err.contains("[1/9]"), outcome.story)
      #expect(outcome.out.contains("\"build_failed\""), outcome.story)
      #expect(checkout.builds == ["quick"])
    }
  }

  @Test("Ctrl-C ends a build and starts no other; at the bank it does not end the background build")
  func interrupted() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "quick")
      let building = try checkout.launch("bankctl", "status")
      try checkout.waitForBuilds(1)
      kill(-building.pid, SIGINT)
      let outcome = try building.finish()
      #expect(outcome.code == 128 + SIGINT && outcome.out == "", outcome.story)
      #expect(outcome.err.contains("was stopped"), outcome.story)
      try checkout.branch.expectNoProcessesLeft()
      #expect(checkout.sets.isEmpty && checkout.builds == ["quick"])

      try checkout.clearBehaviour("hold", "quick")
      try checkout.setBehaviour("hold", "fast")
      let working = try checkout.launch("bankctl", "stay")
      try checkout.branch.waitUntil("the bank is open") { working.lines.first?.hasPrefix("quick ") == true }
      try checkout.waitForBuilds(3)
      kill(-working.pid, SIGINT)
      #expect(try working.finish().code == 128 + SIGINT)
      kill(-working.pid, SIGHUP)
      try checkout.clearBehaviour("hold", "fast")
      try checkout.waitForBackground()
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("fast "))
      #expect(checkout.builds == ["quick", "quick", "fast"])
    }
  }

  @Test("a benchmark waits for the optimized programs")
  func measuring() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "fast")
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("quick "))
      try checkout.waitForBuilds(2)
      let building = try checkout.launch("build", "release", "bank-bench")
      try checkout.branch.waitUntil("the build waits for the background build") {
        building.errors.contains("already running")
      }
      try checkout.clearBehaviour("hold", "fast")
      let outcome = try building.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(checkout.builds == ["quick", "fast", "bank-bench"])
      let set = try #require(checkout.sets.first { !$0.hasSuffix("-quick") })
      #expect(checkout.has("bank-bench", in: set) && checkout.has("bankd", in: set))
      // After that there is nothing left to build.
      #expect(try checkout.run("build", "release", "bank-bench").errorsWithoutProgress == "")
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("fast "))
      #expect(checkout.builds.count == 3)
    }
  }

  @Test("with BANK_QUICK=no the first command waits for the optimized programs")
  func insisting() throws {
    try withCheckout { checkout in
      let outcome = try checkout.run("bankctl", "status", environment: ["BANK_QUICK": "no"])
      #expect(outcome.code == 0 && outcome.out.hasPrefix("fast "), outcome.story)
      #expect(checkout.builds == ["fast"])
    }
  }

  @Test("a set has the digest of the sources it was built from, even if they change during the build")
  func changingSources() throws {
    try withCheckout { checkout in
      try checkout.setBehaviour("hold", "fast")
      try checkout.setBehaviour("change", "quick")
      let outcome = try checkout.run("bankctl", "status")
      let identity = outcome.out.dropFirst("quick ".count).dropLast()
      #expect(checkout.sets == ["\(identity)-quick"], outcome.story)
      // The second build started after the change.
      try checkout.waitForBuilds(3)
      #expect(checkout.builds == ["quick", "quick", "fast"])
      // A background build of sources that changed meanwhile is discarded.
      try checkout.setBehaviour("change", "fast")
      try checkout.clearBehaviour("hold", "fast")
      try checkout.waitForBackground()
      #expect(checkout.sets == ["\(identity)-quick"])
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("quick "))
      try checkout.waitForBuilds(5)
      try checkout.waitForBackground()
      #expect(try checkout.run("bankctl", "status").out.hasPrefix("fast "))
    }
  }

  @Test("--help and --version build nothing")
  func answersWithoutABuild() throws {
    try withCheckout { checkout in
      let help = try checkout.run("bankctl", "--help")
      #expect(help.code == 0 && help.err.contains("Nothing is built yet"), help.story)
      for arguments in [
        "scripts/bankctl open", "  enqueue N\n", "Show one business day from beginning to end.", "--dead\n",
      ] {
        #expect(help.out.contains(arguments), "\(arguments): \(help)")
      }
      for line in Set(help.out.split(separator: "\n"))
      where line.first?.isUppercase == true && line.count < 30 {
        #expect(help.out.components(separatedBy: "\n\(line)\n").count == 2, "a heading stands once: \(line)")
      }
      #expect(!help.out.contains("Exit codes"), "a heading without commands")
      let version = try checkout.run("bankctl", "--version")
      #expect(version.code == 0 && version.err.contains("Not built yet"), version.story)
      #expect(!checkout.hasBuildDirectory)

      let identity = try checkout.run("bankctl", "status").out.dropFirst("quick ".count).dropLast()
      #expect(version.out.hasSuffix("(\(identity))\n") && version.out.hasPrefix("bankctl "), version.story)
      for option in ["--help", "--version"] {
        #expect(try checkout.run("bankctl", option).out.contains(" \(identity)"))
      }
      // Nor does --version after the sources have changed.
      let before = checkout.builds.filter { $0 == "quick" }
      try checkout.changeSources()
      let changed = try checkout.run("bankctl", "--version")
      #expect(changed.out.hasPrefix("bankctl ") && !changed.out.contains(identity), changed.story)
      #expect(checkout.builds.filter { $0 == "quick" } == before)
    }
  }

  private func withCheckout(_ test: (FakeCheckout) throws -> Void) throws {
    try withScratchBank { try test(try FakeCheckout($0)) }
  }
}
