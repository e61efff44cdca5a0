// Bank as process 1 of a container: it reaps the processes that are reparented to it, and a stop of the container
// closes the bank. The container is a pid namespace, which only root can create here.
import Foundation
import Glibc
import Testing

@Suite("Process 1 of a container", .serialized)
struct ContainerTests {
  private func children(of pid: Int32) -> [Int32] {
    ((try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)) ?? "").split(
      separator: " "
    )
    .compactMap { Int32($0) }
  }

  private func isEnded(_ pid: Int32) -> Bool {
    let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    return stat.lastIndex(of: ")").flatMap { stat[$0...].dropFirst(2).first } == "Z"
  }

  private func name(_ pid: Int32) -> String {
    ((try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? "").filter { $0 != "\n" }
  }

  @Test(
    "it reaps the orphans of five coordinators and of others, and SIGTERM serves every waiting customer",
    .enabled(if: geteuid() == 0, "only root can create a container here"))
  func collects() throws {
    try withScratchBank { branch in
      let container = try branch.launch(
        ["-pf", "--mount-proc", "--kill-child", Binaries.bankctl, "start", "--foreground", "--speed", "max"],
        program: "/usr/bin/unshare")
      var first: Int32 = 0
      func inside(_ arguments: String...) throws -> Outcome {
        try branch.launch(["-t", "\(first)", "-p", "-m"] + arguments, program: "/usr/bin/nsenter").finish()
      }
      try branch.waitUntil("the bank is open") {
        first = children(of: container.pid).first ?? 0
        // A bank answers before it has opened, and one that is killed before that is not opened again.
        guard container.lines.contains(where: { $0.contains("deposit-1") }) else { return false }
        return first != 0 ? try inside(Binaries.bankctl, "status").code == 0 : false
      }
      for _ in 1...5 {
        let coordinator = try #require(children(of: first).first { name($0) == "bankd" && !isEnded($0) })
        Glibc.kill(coordinator, SIGKILL)
        try branch.waitUntil("the next coordinator is open") {
          children(of: first).contains { name($0) == "bankd" && !isEnded($0) && $0 != coordinator }
            ? try inside(Binaries.bankctl, "status").code == 0 : false
        }
      }
      // Orphan of a program that entered the container and exited.
      for _ in 1...3 { #expect(try inside("sh", "-c", "(sleep 0.05 &) ; exit 0").code == 0) }
      try branch.waitUntil("no zombie is left") {
        let all = children(of: first)
        return all.count == 1 && !all.contains(where: isEnded)
      }
      #expect(try inside(Binaries.bankctl, "enqueue", "20").code == 0)
      Glibc.kill(first, SIGTERM)
      let ended = try container.finish()
      #expect(ended.code == 0, ended.story)
      #expect(try branch.lines("receipts", "--day", "all").count == 20)
      try branch.expectNoProcessesLeft()
    }
  }
}
