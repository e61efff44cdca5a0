// Unusable configurations: start, reload and SIGHUP refuse them with the file, the line and a correction. No bank is
// opened, and an open bank is not affected.
import Foundation
import Glibc
import Testing

private let broken: [(String, String)] = [
  ("", "ends too early"), ("[]", "list"), ("{\n\"speed\": 2\n\"lang\": \"ko\"}", ":3:"),
  ("{\"speed\":", "ends too early"),
  (#"{"max_wating": 5}"#, "max_waiting"), (#"{"windows": {"depsit": 1}}"#, "deposit"),
  ("{\n\"max_wating\": 5}", #":2: unknown key "max_wating""#),
  (#"{"lease": "-5s"}"#, #":1: "lease" is "-5s""#),
  (#"{"windows": 2}"#, "braces"),
  (#"{"windows": {"deposit": -1}}"#, "256"), (#"{"windows": {"deposit": 1.5}}"#, "64-bit integer"),
  (#"{"lease": "-5s"}"#, "negative"), (#"{"lease": 5}"#, "quotes"), (#"{"lease": "5"}"#, "unit"),
  (#"{"lease": "1ms"}"#, "100ms"),
  (#"{"max_waiting": "5"}"#, "quotes"), (#"{"max_waiting": 0}"#, "from 1"), (#"{"speed": 0}"#, "above 0"),
  (#"{"speed": 1, "speed": 2}"#, "twice"), (#"{"lang": "fr"}"#, "\"ko\""),
  (#"{"retry_initial_delay": "5s", "retry_max_delay": "1s"}"#, "retry"),
  (#"{"log": {"keep_files": -1}}"#, "keep"),
  (String(repeating: "[", count: 100_000), "braces"), (String(repeating: " ", count: 2 << 20), "1 MiB"),
]

@Suite("Configuration files", .serialized)
struct ConfigurationFileTests {
  @Test("start refuses an unusable configuration, names place and reason, and opens nothing")
  func start() throws {
    try withScratchBank { branch in
      for (text, reason) in broken {
        let file = try branch.write(text, to: "bank.json")
        let outcome = try branch.run("start", "--config", file)
        #expect(
          outcome.code == 2 && outcome.err.contains("bank.json") && outcome.err.contains(reason),
          outcome.story)
        #expect(try branch.run("start", "--config", file, language: .ko).err != outcome.err)
        let checked = try branch.run("config", "check", file)
        #expect(
          checked.code == 2 && checked.errorsWithoutProgress == outcome.errorsWithoutProgress,
          "\(checked) \(outcome)")
      }
      for path in [branch.path("missing"), branch.path("io"), "/dev/zero", try pipe(branch)] {
        let outcome = try branch.run("start", "--config", path, timeout: .seconds(5))
        #expect(outcome.code == 2 && outcome.err.contains(path), outcome.story)
      }
      #expect(!FileManager.default.fileExists(atPath: branch.home + "/bank.db"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a refusal to open is reported at once, and leaves nothing for the next attempt")
  func promptly() throws {
    try withScratchBank { branch in
      let file = try branch.write("{\"lease\": 5}", to: "bank.json")
      var times: [Duration] = []
      for _ in 1...5 {
        let start = ContinuousClock.now
        #expect(try branch.run("start", "--config", file).code == 2)
        times.append(ContinuousClock.now - start)
      }
      #expect((times.min() ?? .zero) < .seconds(1), "\(times)")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("reload and SIGHUP refuse it as well, and the open bank continues unchanged")
  func reload() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 1, speed: "max")
      try branch.start("--config", file)
      let before = try branch.status()
      for (text, reason) in broken {
        _ = try branch.write(text, to: "bank.json")
        let outcome = try branch.run("reload")
        #expect(outcome.code == 2 && outcome.err.contains(reason), outcome.story)
      }
      try FileManager.default.removeItem(atPath: file)
      try branch.expectRefusal(2, "bad_configuration", of: "reload")
      #expect(mkfifo(file, 0o600) == 0)
      #expect(try branch.run("reload", timeout: .seconds(5)).code == 2, "reload does not wait for a pipe")
      let told = branch.events("reload_refused", in: "coordinator").count
      branch.processes.signal(before.pid, SIGHUP)
      try branch.waitUntil("the SIGHUP is refused") {
        branch.events("reload_refused", in: "coordinator").count > told
      }
      let after = try branch.status()
      #expect(after.pid == before.pid && after.workers.map(\.pid) == before.workers.map(\.pid))
      try branch.runSuccessfully("enqueue", "3", "--wait")

      try FileManager.default.removeItem(atPath: file)
      _ = try branch.configuration(deposit: 3, loan: 1, speed: "max")
      branch.processes.signal(before.pid, SIGHUP)
      try branch.waitUntil("the valid file is applied") { try branch.status().tellers.count == 4 }
      try branch.expectClean()
    }
  }

  private func pipe(_ branch: ScratchBank) throws -> String {
    let path = branch.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }
}
