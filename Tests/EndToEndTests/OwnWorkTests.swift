// Command or worker that requests from its own bank what would wait for its own end: it is refused by name, no attempt
// is repeated at the next start, and with `--no-wait` the bank closes after it.
import Foundation
import Glibc
import Testing

private let services = #"""
  {"services": {
     "batch": {"run": [], "windows": 1, "retries": {"max_failures": 1}},
     "pair": {"run": [], "windows": 2, "retries": {"max_failures": 1}},
     "closing": {"run": ["sh", "-c", "exec \"$@\" 2>&1", "sh", "BANKCTL", "--home", "HOME", "stop"], "exit": {"5": "served"}},
     "worker": {"worker": ["sh", "SCRIPT"]}},
   "windows": {"deposit": 1, "loan": 0, "juice": 0}}
  """#

private let worker = #"""
  printf '{"hello":{"version":1,"role":"worker"}}\n' >&3
  read -r welcome <&3
  printf '{"ready":{}}\n' >&3
  while read -r line <&3; do
    case $line in *'"close"'*) exit 0 ;; *'"assign"'*) ;; *) continue ;; esac
    names=$(printf %s "$line" | grep -o '"\(ticket\|attempt\|generation\)":[0-9]*' | tr '\n' ',')
    'BANKCTL' --home 'HOME' stop 3>&- >/dev/null 2>&1
    printf '{"done":{%s"result":"%s"}}\n' "$names" $? >&3
  done
  """#

@Suite("Requests from the bank's own work", .serialized)
struct OwnWorkTests {
  private func withServices(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      func filled(_ text: String) -> String {
        text.replacing("BANKCTL", with: Binaries.bankctl).replacing("HOME", with: branch.home)
      }
      let script = try branch.write(filled(worker), to: "worker.sh")
      let file = try branch.write(filled(services).replacing("SCRIPT", with: script), to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      try test(branch)
      try branch.expectNoProcessesLeft()
    }
  }

  /// Lets the bank run a bankctl command on itself.
  private func inside(
    _ branch: ScratchBank, service: String = "batch", _ arguments: String..., language: OutputLanguage = .en,
    at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let line =
      ["run", "--wait", "--service", service, "--", Binaries.bankctl, "--home", branch.home] + arguments
    return try branch.launch(line, language: language).finish(at: location)
  }

  @Test("stop, wait and reset are refused by name, and the bank stays open")
  func refused() throws {
    try withServices { branch in
      for arguments in [
        ["stop"], ["stop", "--now"], ["stop", "--timeout", "1s"], ["wait"], ["reset", "--yes"],
      ] {
        let line =
          ["run", "--wait", "--service", "batch", "--", Binaries.bankctl, "--home", branch.home] + arguments
        let outcome = try branch.launch(line).finish(within: .seconds(10))
        #expect(outcome.code == 5, outcome.story)
        #expect(outcome.err.contains("batch-1"), outcome.story)
      }
      let stop = try inside(branch, "stop")
      #expect(stop.err.contains("--no-wait"), stop.story)
      let json = try inside(branch, "stop", "--json")
      #expect(json.out.contains("\"would_deadlock\""), json.story)
      // The command of a service, and a worker.
      try branch.runSuccessfully("enqueue", "--service", "closing", "--payload", "x", "--wait")
      let closing = try #require(try branch.receipts().last)
      #expect(closing["exit_code"].integer == 5, "\(closing)")
      try branch.runSuccessfully("enqueue", "--service", "worker", "--payload", "x", "--wait")
      #expect(try branch.receipts().last?["result"].text == "5")
      #expect(try branch.status().state == "open")
      try branch.runSuccessfully("stop")
    }
  }

  @Test(
    "a process without session, parent and environment is still recognised",
    arguments: ["", "env -i"])
  func detached(cleared: String) throws {
    try withServices { branch in
      let said = branch.path("said")
      let script = """
        setsid --fork \(cleared) sh -c '
          "\(Binaries.bankctl)" --home "\(branch.home)" stop; echo $? > "\(said).new"; mv "\(said).new" "\(said)"'
        while [ ! -e "\(said)" ]; do sleep 0.01; done
        """
      try branch.runSuccessfully("run", "--wait", "--service", "batch", "--", "sh", "-c", script)
      #expect(try String(contentsOfFile: said, encoding: .utf8) == "5\n")
      try branch.runSuccessfully("stop")
    }
  }

  @Test("with --no-wait the bank closes after the command, and nothing of it runs again")
  func behind() throws {
    try withServices { branch in
      // The test does not wait for the client: the bank may have closed before the client asks for its ticket.
      try branch.runSuccessfully(
        "run", "--service", "batch", "--", Binaries.bankctl, "--home", branch.home, "stop", "--no-wait")
      try branch.waitUntil("the bank has closed") { try branch.run("status").code == 3 }
      let receipts = try branch.receipts()
      #expect(receipts.count == 1 && receipts[0]["attempts"].integer == 1, "\(receipts)")
      try branch.start("--speed", "max")
      #expect(try branch.json("status")["queue"]["issued"].integer == 0, "a new day")
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait")
      #expect(try branch.status().state == "open")
      try branch.runSuccessfully("stop")
    }
  }

  @Test("windows are closed without waiting for the command at one of them")
  func scaled() throws {
    try withServices { branch in
      let scaled = try inside(branch, "scale", "batch=0")
      #expect(scaled.code == 0, scaled.story)
      try branch.runSuccessfully("stop")
    }
  }

  @Test("waiting for a ticket is refused without a free window for it; with one it is served")
  func nested() throws {
    try withServices { branch in
      let alone = try inside(branch, "run", "--wait", "--service", "batch", "--", "true")
      #expect(alone.code == 5 && alone.err.contains("--wait"), alone.story)
      let beside = try inside(
        branch, service: "pair", "run", "--wait", "--service", "pair", "--", "echo", "beside")
      #expect(beside.code == 0 && beside.out.contains("beside"), beside.story)
      let other = try inside(branch, "enqueue", "2", "--service", "deposit", "--wait")
      #expect(other.code == 0, other.story)
      try branch.runSuccessfully("wait", "--timeout", "20s")
      try branch.runSuccessfully("stop")
    }
  }
}
