// Shell in a terminal at which the README's commands are typed, in a directory that looks like the checkout and with
// its own home directory.
// Invariant: the output of a command is compared with the README. A command that only reads is repeated until both
// agree, because a user reads later than a test does. Failure: Trouble, with the lines of the README and the terminal.
import Foundation
import Testing

final class TourShell {
  private static let prompt = "$ "
  private static let interrupt = "^C"
  private static let readers: Set = ["status", "ticket", "tickets", "logs", "receipts"]

  private let shell: TerminalProgram
  private var processes = TourProcesses()

  init(_ branch: ScratchBank) throws {
    let checkout = branch.path("checkout")
    try FileManager.default.createDirectory(atPath: checkout, withIntermediateDirectories: true)
    for name in ["Sources", "config", "scripts"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(checkout)/\(name)", withDestinationPath: Tour.root.appending(path: name).path)
    }
    let programs = URL(fileURLWithPath: Binaries.bankctl).deletingLastPathComponent().path
    shell = try TerminalProgram(
      branch, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
      path: "\(programs):/usr/bin:/bin:/usr/sbin:/sbin")
    // Input before the shell is ready would be echoed before its first prompt.
    try shell.waitFor("bash-")
    shell.type("unset BANK_HOME BANK_LANG; cd \(checkout); PS1='\(Self.prompt)'\n")
    try shell.waitFor("\n" + Self.prompt)
  }

  /// Types a command of the README and compares the terminal with the README.
  func follow(_ step: Tour.Step) throws {
    let command = processes.typed(step.command)
    let isReader = command.split(separator: " ").contains { Self.readers.contains(String($0)) }
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(5))
    while true {
      let seen = try output(of: command, step.shown)
      if let known = processes.matching(shown: step.shown, seen: seen) {
        processes = known
        return
      }
      guard isReader, ContinuousClock.now < deadline else {
        throw TestFailure(
          """
          README.md:\(step.line): '\(command)' does not show what the README shows.
          The README:
          \(step.shown.joined(separator: "\n"))
          The terminal:
          \(seen.joined(separator: "\n"))
          """)
      }
      Polling.pause(milliseconds: 50)
    }
  }

  func end() throws {
    shell.type("exit\n")
    _ = try shell.finish()
  }

  /// Types a command and the README's answers to its questions, and returns the lines until the prompt is back.
  ///
  /// A question is a line without an end at which the program waits, and which the README shows with the answer. If the
  /// README shows `^C`, Ctrl-C is pressed once everything above it is on the screen.
  private func output(of command: String, _ shown: [String]) throws -> [String] {
    shell.clear()
    shell.type(command + "\n")
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(30))
    var (before, answered, isInterrupted) = (0, 0, shown.last != Self.interrupt)
    while true {
      let lines = shell.lines
      let last = lines[lines.count - 1]
      if lines.count > 1, last == Self.prompt { return Array(lines.dropFirst().dropLast()) }
      if !isInterrupted, processes.matching(shown: shown.dropLast(), seen: Array(lines.dropFirst())) != nil {
        shell.type("\u{3}")
        isInterrupted = true
      }
      // A question is answered once, however long its program takes to show the input.
      if shell.screen.utf8.count == before, before != answered, last.hasSuffix(" "),
        let answer = shown.first(where: { $0.hasPrefix(last) })?.dropFirst(last.count), !answer.isEmpty,
        !answer.contains(" ")
      {
        shell.type(answer + "\n")
        answered = before
      }
      guard ContinuousClock.now < deadline else {
        throw TestFailure("'\(command)' does not end:\n\(lines.joined(separator: "\n"))")
      }
      before = shell.screen.utf8.count
      shell.read(for: 200)
    }
  }
}
