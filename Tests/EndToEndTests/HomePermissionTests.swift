// Access to a home: the owner only. A directory that was not created for a bank keeps its permissions, and an unusable
// home is refused with the reason and leaves no process.
import Foundation
import Glibc
import Testing

@Suite("Permissions of a home", .serialized)
struct HomePermissionTests {
  private let files = FileManager.default
  /// An unprivileged uid.
  private static let otherUser = "65534"
  private static let isRoot = geteuid() == 0

  @Test("an open home is closed to others: directories 0700, everything else 0600, with any umask")
  func modes() throws {
    try withScratchBank { branch in
      let old = umask(0)
      defer { umask(old) }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--wait")
      let places = ["", "/run", "/logs"].map { branch.home + $0 }
      for place in places {
        #expect(mode(place) == 0o700, "\(place)")
        for name in try files.contentsOfDirectory(atPath: place)
        where !places.contains("\(branch.home)/\(name)") {
          #expect(mode("\(place)/\(name)") == 0o600, "\(place)/\(name)")
        }
      }
    }
  }

  @Test("for a symbolic link in a home the audit checks its target", arguments: ["logs", "run"])
  func links(name: String) throws {
    try withScratchBank { branch in
      let place = branch.path("elsewhere-\(name)")
      mkdir(place, 0o700)
      mkdir(branch.home, 0o700)
      #expect(symlink(place, "\(branch.home)/\(name)") == 0)
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--wait")
      try branch.expectClean()
      chmod(place, 0o755)
      let audit = try branch.run("audit")
      #expect(
        audit.code == 1 && audit.out.contains("\(branch.home)/\(name) is accessible to other users"),
        audit.story)
      chmod(place, 0o700)
      try branch.expectClean()
      try branch.runSuccessfully("stop")
      // A closed home is checked in the same way.
      #expect(try branch.run("audit").code == 0)
    }
  }

  @Test("no process of an open bank keeps its start directory, and commands run in that of their caller")
  func directories() throws {
    try withScratchBank { branch in
      let place = branch.path("mounted")
      mkdir(place, 0o700)
      _ = try branch.write(
        #"""
        {"services": {"where": {"run": ["pwd"], "windows": 1}, "n": {"worker": ["sleep", "1000"], "windows": 0}},
         "windows": {"deposit": 1, "loan": 0, "juice": 1}}
        """#, to: "mounted/bank.json")
      let opened = try branch.launch(
        ["-c", "cd \(place) && exec \(Binaries.bankctl) start --config bank.json --speed max"],
        program: "/bin/sh"
      ).finish()
      #expect(opened.code == 0, opened.story)
      try branch.runSuccessfully("web", "--no-open")
      for pid in branch.processes.all() {
        let directory = try files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
        #expect(directory == "/", "\(pid)")
      }
      // The coordinator finds the file again from any directory.
      try branch.runSuccessfully("reload")
      try branch.runSuccessfully("enqueue", "1", "--service", "where", "--wait")
      #expect(try branch.json("ticket", "1")["result"].text == branch.home + "\n")
      let asked = try branch.launch(
        ["-c", "cd \(place) && exec \(Binaries.bankctl) run --wait -- pwd"], program: "/bin/sh"
      ).finish()
      #expect(asked.out == place + "\n", asked.story)
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("the bank is back", within: .seconds(30)) {
        guard let status = try branch.statusIfAnswered() else { return false }
        return status.pid != pid
      }
      for pid in branch.processes.all() {
        let directory = try files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
        #expect(directory == "/", "\(pid)")
      }
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a home that is a file, below a file, or too long for a database is refused, and leaves nothing")
  func unusable() throws {
    try withScratchBank { branch in
      let file = try branch.write("hello", to: "file")
      let long = branch.path("") + String(repeating: String(repeating: "x", count: 99) + "/", count: 6)
      for home in [
        file, file + "/below", "/proc/none", long, branch.path(String(repeating: "y", count: 300)),
      ] {
        let outcome = try branch.launch(["start", "--json", "--home", home]).finish()
        #expect(outcome.code == 1, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "bad_home", outcome.story)
      }
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
      #expect(!files.fileExists(atPath: long + "bank.db"))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a shared writable directory with other files is refused as a home, and keeps its permissions")
  func shared() throws {
    try withScratchBank { branch in
      let place = branch.path("shared")
      mkdir(place, 0o700)
      _ = try branch.write("not mine", to: "shared/diary")
      for mode: mode_t in [0o1777, 0o777] {
        chmod(place, mode)
        for _ in 1...2 {
          let outcome = try branch.launch(["start", "--home", place]).finish()
          #expect(outcome.code == 1 && outcome.err.contains("other users"), outcome.story)
          #expect(self.mode(place) == mode)
        }
      }
      let readable = branch.path("readable")
      mkdir(readable, 0o755)
      chmod(readable, 0o755)
      _ = try branch.write("mine", to: "readable/diary")
      try branch.runSuccessfully("start", "--speed", "max", "--home", readable)
      try branch.runSuccessfully("stop", "--home", readable)
      #expect(
        mode(readable) == 0o755 && mode(readable + "/bank.db") == 0o600 && mode(readable + "/run") == 0o700)
      let empty = branch.path("empty")
      mkdir(empty, 0o755)
      try branch.runSuccessfully("open", "--customers", "1", "--speed", "max", "--home", empty)
      #expect(mode(empty) == 0o700, "a directory created for a bank is closed to others")
    }
  }

  @Test("a home of another user is refused and not changed")
  func foreign() throws {
    try withScratchBank { branch in
      let place = Self.isRoot ? branch.path("foreign") : "/usr"
      mkdir(place, 0o755)
      chown(place, 65534, 65534)
      let before = try files.contentsOfDirectory(atPath: place)
      for arguments in [["start"], ["open", "--customers", "1"], ["start", "--foreground"]] {
        let outcome = try branch.launch(arguments + ["--home", place]).finish()
        #expect(outcome.code == 1 && outcome.err.contains("another user"), outcome.story)
      }
      #expect(try files.contentsOfDirectory(atPath: place) == before)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "a home without write permission is refused with the reason, new or used, and not changed",
    .enabled(if: !isRoot || access("/usr/bin/setpriv", X_OK) == 0))
  func readOnly() throws {
    try withScratchBank { branch in
      // Root may write everywhere, so an unprivileged user runs the command if it can reach the programs.
      chmod(branch.path(""), 0o755)
      func run(_ arguments: [String]) throws -> Outcome {
        guard Self.isRoot else { return try branch.launch(arguments).finish() }
        return try branch.launch(asOtherUser([Binaries.bankctl] + arguments), program: "/usr/bin/setpriv")
          .finish()
      }
      guard try run(["--version"]).code == 0 else { return }
      let place = branch.path("other-user")
      mkdir(place, 0o700)
      if Self.isRoot { chown(place, 65534, 65534) }
      let home = place + "/home"
      #expect(try run(["open", "--customers", "1", "--speed", "max", "--home", home]).code == 0)
      for (shut, name) in [(place, "new"), (home, "home")] {
        chmod(shut, 0o500)
        for arguments in [["start"], ["open", "--customers", "1"], ["start", "--foreground"]] {
          let outcome = try run(arguments + ["--json", "--home", place + "/" + name])
          #expect(outcome.code == 1, outcome.story)
          #expect(try outcome.json()["error"]["code"].text == "bad_home", outcome.story)
          #expect(outcome.out.contains("EACCES"), outcome.story)
        }
        chmod(shut, 0o700)
      }
      #expect(!files.fileExists(atPath: place + "/new"))
      #expect(try run(["open", "--customers", "1", "--speed", "max", "--home", home]).code == 0)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "another user can neither connect, nor read, nor open a second bank there",
    .enabled(if: isRoot && access("/usr/bin/setpriv", X_OK) == 0))
  func otherUser() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      // The path to the home is open, but the home itself is not; the programs must be reachable.
      chmod(branch.path(""), 0o755)
      let reach = try branch.launch(
        asOtherUser(["/bin/test", "-x", Binaries.bankctl]), program: "/usr/bin/setpriv"
      ).finish()
      guard reach.code == 0 else { return }
      for arguments in [["status"], ["enqueue", "1"], ["stop", "--now"], ["start"], ["logs"], ["audit"]] {
        let outcome = try branch.launch(
          asOtherUser([Binaries.bankctl] + arguments), program: "/usr/bin/setpriv"
        )
        .finish()
        #expect(outcome.code == 1 && outcome.out == "", outcome.story)
      }
      chmod(branch.home, 0o755)
      chmod(branch.home + "/run", 0o755)
      chmod(branch.home + "/run/bank.sock", 0o777)
      // Even without permissions on the files the coordinator checks the user of each client.
      let outcome = try branch.launch(asOtherUser([Binaries.bankctl, "status"]), program: "/usr/bin/setpriv")
        .finish()
      #expect(outcome.code == 1 && outcome.out == "", outcome.story)
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  private func asOtherUser(_ arguments: [String]) -> [String] {
    ["--reuid", Self.otherUser, "--regid", Self.otherUser, "--clear-groups"] + arguments
  }

  private func mode(_ path: String) -> mode_t {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
  }
}
