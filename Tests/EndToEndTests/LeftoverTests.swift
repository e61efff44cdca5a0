// Processes of an attempt that the bank cannot end: its service waits for them and reports it, and starts nothing else.
// The bank runs as root without the right to signal other users (CAP_KILL), and its job becomes another user.
import Foundation
import Glibc
import Testing

@Suite(
  "Processes that cannot be ended", .serialized,
  .enabled(if: geteuid() == 0, "only root can start a process that the bank cannot end"))
struct LeftoverTests {
  private static let services = #"""
    {"services": {"job": {"run": ["sh", "{payload}"], "windows": 1,
                          "retries": {"max_crashes": 9, "max_failures": 9, "initial_delay": "10ms", "max_delay": "20ms"}},
                  "echo": {"run": ["cat"], "windows": 1}},
     "windows": {"deposit": 1, "loan": 0, "juice": 0}}
    """#

  private func open(_ branch: ScratchBank) throws {
    let file = try branch.write(Self.services, to: "bank.json")
    let opened = try branch.launch(
      [
        "--inh-caps=-kill", "--bounding-set=-kill", Binaries.bankctl, "start", "--config", file, "--speed",
        "max",
      ], program: "/usr/bin/setpriv", environment: ["BANK_CONTROL_GROUPS": "no"]
    ).finish()
    try #require(opened.code == 0, opened.story)
  }

  /// Records each attempt and the process that it leaves.
  private func script(_ note: String, last: String, until pipe: String) -> String {
    """
    exec 8<\(pipe) 9>>\(note)
    echo attempt >&9
    [ $(grep -c attempt \(note)) -ge 2 ] && exit 0
    setsid env -i PATH=/usr/bin:/bin setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'echo $$ >&9; read x <&8' </dev/null >/dev/null 2>&1 &
    while [ $(wc -l < \(note)) -lt 2 ]; do :; done
    \(last)
    """
  }

  /// Enqueues a job, and returns its record and the pid of the process that its first attempt leaves.
  private func begin(_ branch: ScratchBank, last: String) throws -> (note: String, left: Int32) {
    let note = branch.path("note")
    let file = try branch.write(script(note, last: last, until: branch.heldPipe()), to: "job.sh")
    try branch.runSuccessfully("enqueue", "--service", "job", "--payload", file)
    try branch.waitUntil("the first attempt has started") { lines(note).count == 2 }
    return (note, try #require(Int32(lines(note)[1])))
  }

  private func lines(_ note: String) -> [String] {
    ((try? String(contentsOfFile: note, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  @Test("after a kill of the coordinator the service waits visibly until the process exits; others continue")
  func afterTheCoordinator() throws {
    try withScratchBank { branch in
      try open(branch)
      let (note, left) = try begin(branch, last: "read x <&8")
      defer { Glibc.kill(left, SIGKILL) }
      branch.processes.signal(try branch.status().pid, SIGKILL)
      try branch.waitUntil("the window waits") {
        try branch.statusIfAnswered()?.worker("job-1")?.state == "backoff"
      }
      for language in [OutputLanguage.en, .ko] {
        let text = try branch.runSuccessfully("status", language: language).out
        #expect(text.contains("job-1") && text.contains("\(left)"), "\(text)")
      }
      #expect(branch.events("window_blocked", in: "coordinator").count == 1)
      #expect(
        try branch.runSuccessfully("enqueue", "--service", "echo", "--payload", "x", "--wait").code == 0)
      #expect(lines(note).count == 2 && Glibc.kill(left, 0) == 0)
      Glibc.kill(left, SIGKILL)
      try branch.waitUntil("the customer has started again, and is served") {
        try lines(note).count == 3 && branch.status().queue("served") == 2
      }
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("after a failure the customer stays at its window until the processes of the command have exited")
  func afterAFailure() throws {
    try withScratchBank { branch in
      try open(branch)
      let (note, left) = try begin(branch, last: "exit 1")
      defer { Glibc.kill(left, SIGKILL) }
      let errors = "\(branch.home)/logs/bankd.stderr"
      try branch.waitUntil("the runner has reported the process", within: .seconds(30)) {
        ((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "").contains("cannot be ended: \(left)")
      }
      #expect(lines(note).count == 2)
      #expect(try branch.json("ticket", "1")["state"].text == "serving")
      Glibc.kill(left, SIGKILL)
      try branch.waitUntil("the customer has started again, and is served") {
        try lines(note).count == 3 && branch.status().queue("served") == 1
      }
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }
}
