// Umask and limits of commands and workers: those of the client for `run`, else those with which the bank was opened,
// regardless of what the bank itself needs, and of kills.
import Foundation
import Glibc
import Testing

private let services = #"""
  {"services": {
     "plain": {"run": ["sh", "-c", "umask; ulimit -Sn; ulimit -Hn"]},
     "own": {"run": ["sh", "-c", "umask; ulimit -Sn"], "umask": "027", "limits": {"open_files": 99}},
     "worker": {"worker": ["sh", "SCRIPT"], "umask": "0007"}},
   "windows": {"deposit": 1, "loan": 0, "juice": 0}}
  """#

/// Worker that replies to each customer with its umask and its limit of open files.
private let worker = #"""
  printf '{"hello":{"version":1,"role":"worker"}}\n' >&3
  read -r welcome <&3
  printf '{"ready":{}}\n' >&3
  while read -r line <&3; do
    case $line in *'"close"'*) exit 0 ;; *'"assign"'*) ;; *) continue ;; esac
    names=$(printf %s "$line" | grep -o '"\(ticket\|attempt\|generation\)":[0-9]*' | tr '\n' ',')
    printf '{"done":{%s"result":"%s %s"}}\n' "$names" "$(umask)" "$(ulimit -Sn)" >&3
  done
  """#

@Suite("Inherited umask and limits", .serialized)
struct SurroundingsTests {
  private func shell(_ branch: ScratchBank, _ script: String, at location: SourceLocation = #_sourceLocation)
    throws -> Outcome
  {
    try branch.launch(["-c", script, Binaries.bankctl], program: "/bin/sh").finish(at: location)
  }

  @Test(
    "umask and open files come from the caller, the service, or the opener of the bank, also after kill -9"
  )
  func whole() throws {
    try withScratchBank { branch in
      let script = try branch.write(worker, to: "worker.sh")
      let file = try branch.write(services.replacing("SCRIPT", with: script), to: "bank.json")
      let opened = try shell(
        branch, "umask 022; ulimit -Sn 512; exec \"$0\" start --speed max --config '\(file)'")
      #expect(opened.code == 0, opened.story)
      for round in 1...2 {
        let run = try shell(
          branch, "umask 026; ulimit -Sn 300; exec \"$0\" run --wait -- sh -c 'umask; ulimit -Sn'")
        #expect(run.out == "0026\n300\n", run.story)
        func result(_ service: String) throws -> [String] {
          try branch.runSuccessfully("enqueue", "--service", service, "--payload", "x", "--wait")
          let text = try #require(try branch.receipts().last?["result"].text)
          return text.split { $0 == "\n" || $0 == " " }.map(String.init)
        }
        let plain = try result("plain")
        #expect(plain.prefix(2) == ["0022", "512"], "round \(round): \(plain)")
        #expect(plain.last != "512", "the hard limit is unchanged")
        #expect(try result("own") == ["0027", "99"])
        #expect(try result("worker") == ["0007", "512"])
        // The bank's own files are private.
        let facts = try FileManager.default.attributesOfItem(atPath: branch.home + "/bank.db")
        #expect((facts[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
        guard round == 1 else { break }
        let before = try branch.status()
        branch.processes.signal(before.pid, SIGKILL)
        try branch.waitUntil("another coordinator serves") {
          try branch.statusIfAnswered().map { $0.pid != before.pid } ?? false
        }
      }
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }
}
