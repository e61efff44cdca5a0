// The tour of the README, typed as it stands there at a shell in a terminal, and compared with what the README shows.
// A command that only looks is typed again until it shows the same: a person looks later than a test does.
import Foundation
import Testing

@Suite("The tour of the README")
struct TourTests {
  private static let prompt = "$ "
  private static let looks: Set = ["status", "ticket", "tickets", "logs", "receipts"]

  @Test("can be followed as typed, and shows what the README shows")
  func replay() throws {
    let tour = try Tour.ofReadme()
    #expect(tour.steps.count > 12 && tour.steps.allSatisfy { !$0.command.isEmpty })
    try withBranch { branch in
      let programs = URL(fileURLWithPath: Binaries.bankctl).deletingLastPathComponent().path
      let shell = try TerminalProgram(
        branch, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
        path: "\(programs):/usr/bin:/bin")
      // What is typed before the shell is there is echoed before its first prompt.
      try shell.waitFor("bash-")
      shell.type("unset BANK_LANG; PS1='\(Self.prompt)'\n")
      try shell.waitFor("\n" + Self.prompt)
      var processes = TourProcesses()
      for step in tour.steps { try follow(step, in: shell, &processes) }
      shell.type("exit\n")
      _ = try shell.finish()
      try branch.waitUntil("nobody is left", within: .seconds(5)) { branch.processes.all().isEmpty }
    }
  }

  private func follow(_ step: Tour.Step, in shell: TerminalProgram, _ processes: inout TourProcesses) throws {
    let command = processes.typed(step.command)
    let isLook = command.split(separator: " ").contains { Self.looks.contains(String($0)) }
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(5))
    while true {
      let seen = try output(of: command, step.shown, in: shell)
      if let known = processes.matching(shown: step.shown, seen: seen) {
        processes = known
        return
      }
      guard isLook, ContinuousClock.now < deadline else {
        throw Trouble(
          """
          README.md:\(step.line): '\(command)' does not show what the README shows.
          The README:
          \(step.shown.joined(separator: "\n"))
          The terminal:
          \(seen.joined(separator: "\n"))
          """)
      }
      Moment.pass(milliseconds: 50)
    }
  }

  /// Types a command and what is answered to its questions, and returns the lines until the prompt is back.
  ///
  /// A question is a line that the program has not ended and waits behind, and that the README shows with the answer.
  private func output(of command: String, _ shown: [String], in shell: TerminalProgram) throws -> [String] {
    shell.clear()
    shell.type(command + "\n")
    let deadline = ContinuousClock.now + Patience.stretched(.seconds(15))
    var (before, answered) = (0, 0)
    while true {
      let lines = shell.lines
      let last = lines[lines.count - 1]
      if lines.count > 1, last == Self.prompt { return Array(lines.dropFirst().dropLast()) }
      // A question is answered once, however long its program takes to show what was typed.
      if shell.screen.utf8.count == before, before != answered, last.hasSuffix(" "),
        let answer = shown.first(where: { $0.hasPrefix(last) })?.dropFirst(last.count), !answer.isEmpty,
        !answer.contains(" ")
      {
        shell.type(answer + "\n")
        answered = before
      }
      guard ContinuousClock.now < deadline else {
        throw Trouble("'\(command)' does not end:\n\(lines.joined(separator: "\n"))")
      }
      before = shell.screen.utf8.count
      shell.read(for: 200)
    }
  }

  @Test("every line that the README shows is compared, and a changed word is found")
  func planted() throws {
    for step in try Tour.ofReadme().steps {
      let seen = step.shown.filter { $0 != "…" }
      #expect(TourProcesses().matching(shown: step.shown, seen: seen) != nil, "\(step)")
      for place in seen.indices where !seen[place].isEmpty {
        var other = seen
        other[place] += " x"
        #expect(
          TourProcesses().matching(shown: step.shown, seen: other) == nil,
          "README.md:\(step.line): \(seen[place])")
        other.remove(at: place)
        #expect(
          TourProcesses().matching(shown: step.shown, seen: other) == nil,
          "README.md:\(step.line): \(seen[place])")
      }
    }
  }

  @Test("times, spans and memory are any of their kind, and a process is the same all through the tour")
  func rules() {
    func isSame(_ shown: String, _ seen: String) -> Bool {
      TourProcesses().matching(
        shown: shown.components(separatedBy: "\n"), seen: seen.components(separatedBy: "\n")) != nil
    }
    #expect(isSame("at 2026-11-22T03:15:43.541Z  done", "at 2027-01-01T00:00:00.001Z done"))
    #expect(isSame("time - 00:02:781 · for 2.7 s", "time - 01:00:000 · for 12 ms"))
    #expect(isSame("7.8 MB", "12.4 MB") && !isSame("7.8 MB", "12.4 s") && !isSame("7 waiting", "8 waiting"))
    #expect(isSame("총 14명, 총 9.62초입니다.", "총 14명, 총 10.01초입니다."))
    #expect(!isSame("총 14명, 총 9.62초입니다.", "총 15명, 총 9.62초입니다."))
    #expect(isSame("a pid 12\nb pid 13\nc pid=12", "a pid 701\nb pid 702\nc pid=701"))
    #expect(!isSame("a pid 12\nb pid 13", "a pid 701\nb pid 701"), "two processes are not one")
    #expect(!isSame("a pid 12\nb pid 12", "a pid 701\nb pid 702"), "one process is not two")
    let table = "window  pid  state\nloan-1   %  idle\n\nserved  9"
    #expect(isSame(table.replacing("%", with: "41"), table.replacing("%", with: "70000")))
    #expect(!isSame(table, table.replacing("9", with: "8")))
    #expect(isSame("a\n…\nd", "a\nb\nc\nd") && isSame("a\n…\nd", "a\nd") && !isSame("a\n…\nd", "a\nb"))
    let processes = TourProcesses().matching(shown: ["pid 12"], seen: ["pid 701"])
    #expect(processes?.typed("kill -9 12") == "kill -9 701")
  }
}
