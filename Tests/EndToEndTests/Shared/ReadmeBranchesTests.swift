// What the README says of several branches, typed as it stands there, in a directory of its own and with a server of its own:
// branches are opened, one of them and the server are killed, and everything is as it was promised.
import BranchFixture
import Foundation
import PostgresFixture
import Testing

@Suite("The branches of the README", .enabled(if: PostgresCluster.isInstalled))
struct ReadmeBranchesTests {
  private static let root: URL = {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root
  }()

  /// The commands in the first block below the heading.
  private static func block() throws -> String {
    let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let section = try #require(text.components(separatedBy: "\n## Several branches").dropFirst().first)
    return try #require(
      section.components(separatedBy: "```sh\n").dropFirst().first?.components(separatedBy: "\n```").first)
  }

  @Test("are opened, one and the server are killed, and every ticket has one receipt")
  func replay() throws {
    try withBranch { branch in
      let scratch = String(branch.path("").dropLast())
      // Where the user of the server may enter.
      let server = "/tmp/books-" + (scratch.split(separator: "-").last.map(String.init) ?? "")
      let typed = try Self.block()
        .replacing("/var/tmp/books", with: server)
        // Only the branches of this test are meant.
        .replacing("--home .*/jeju ", with: "--home \(scratch)/jeju ")
        .replacing("scripts/postgres", with: Self.root.appending(path: "scripts/postgres").path)
      #expect(typed.contains(server) && typed.contains("\(scratch)/jeju "))
      let programs = URL(fileURLWithPath: Binaries.bankctl).deletingLastPathComponent().path
      let script = """
        set -eu
        unset BANK_HOME
        trap 'for home in seoul busan jeju; do bankctl --home $home stop --now >/dev/null 2>&1 || :; done
          \(Self.root.path)/scripts/postgres remove \(server)' EXIT
        cd \(scratch)
        \(typed)
        """
      // In a file: whoever is looked for by a part of a command line would be this shell, too.
      let outcome = try branch.launch(
        [try branch.write(script, to: "typed")], program: "/bin/bash",
        environment: ["PATH": "\(programs):/usr/bin:/bin:/usr/sbin:/sbin"]
      ).finish(within: .seconds(120))
      #expect(outcome.code == 0, "\(outcome.story)")
      #expect(outcome.out.contains("Every guarantee that can be checked holds."), "\(outcome.story)")
      #expect(outcome.out.contains("100000") || outcome.out.contains("100,000"), "\(outcome.story)")
      try branch.waitUntil("nobody is left", within: .seconds(10)) { branch.processes.all().isEmpty }
    }
  }
}
