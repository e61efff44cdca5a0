// A command that has started while the kernel refuses every watch: it is started once, and its result comes
// all the same. Each case has a process of its own, whose event loop is spoiled for a while.
import BankModel
import CommandRunner
import Glibc
import Posix
import PosixFixture
import Teller
import Testing
import Time
import Wire

@testable import CommandExecutor

@Suite("A command that cannot be watched") struct UnwatchedCommandTests {
  @Test("it is not started again, and its customer is served when the kernel can watch again") func served()
    async
  {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory("command-window")
      let log = directory.file("log")
      let (window, spoiled) = try BrokenEventLoops.find {
        try ProviderFixture(settings("echo begun >>\(log); echo done"))
      }
      spoiled.breakLoops()
      window.provide()
      // The first iteration handles earlier messages, and the second starts the command.
      window.provider.finishIteration()
      window.provider.finishIteration()
      spoiled.restore()
      try window.wait { !window.answers.isEmpty }
      guard case .worked(let result) = try #require(window.answers.first) else {
        Issue.record("\(window.answers)")
        return
      }
      #expect(result.ending == .code(0) && text(result.output) == "done\n")
      #expect(try contents(of: log) == "begun\n")
    }
  }

  @Test("its end is found without a watch, and it is ended at its time") func unwatchedEnd() async {
    await #expect(processExitsWith: .success) {
      let (window, spoiled) = try BrokenEventLoops.find {
        try ProviderFixture(settings("exec sleep 600", timeout: 50, grace: 0))
      }
      spoiled.breakLoops()
      window.provide()
      let end = SystemClock.monotonic() + patience
      while window.answers.isEmpty, SystemClock.monotonic() < end {
        window.provider.finishIteration()
        sched_yield()
      }
      guard case .failed(let failure) = try #require(window.answers.first) else {
        Issue.record("\(window.answers)")
        return
      }
      #expect(failure.words.hasPrefix("took longer than 50ms"))
      spoiled.restore()
    }
  }
}
