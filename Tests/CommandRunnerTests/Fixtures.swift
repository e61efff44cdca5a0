// Shared fixtures: a shell command, a bounded wait on a loop, a temporary directory. Invariant: nothing here
// waits longer than two minutes; a command that a test leaves is killed with its group. Failure: an error
// that the test throws.
import CommandRunner
import Glibc
import Posix
import Testing
import Time

/// A command that runs in a loop of its own.
final class Run {
  let loop: EventLoop
  let command: RunningCommand
  private let isAlone: Bool

  /// - Parameters:
  ///   - isAlone: true if this is a process of its own, in which every child is the command's, or is ended
  ///     with it.
  ///   - adopts: the children that belong to the command.
  init(
    _ order: CommandInvocation, isAlone: Bool = false, readDelay: TimeSpan = .zero,
    adopts: @escaping (pid_t) -> Bool = { _ in false }
  ) throws {
    self.isAlone = isAlone
    // A command need not read its payload.
    Signals.ignorePipe()
    loop = try EventLoop()
    command = try RunningCommand.start(
      order, on: loop, at: SystemClock.monotonic(), readDelay: readDelay, adopts: adopts
    ).get()
  }

  deinit {
    // Nothing is left after a passed test.
    while isAlone, Subreaper.hasChildren {
      for pid in Subreaper.children() {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
      }
    }
  }

  /// Runs the loop until the command is over.
  func outcome() throws -> CommandOutcome {
    var outcome: CommandOutcome?
    try until {
      outcome != nil
    } turn: {
      outcome = command.runIteration(at: SystemClock.monotonic())
    }
    return try #require(outcome)
  }

  /// Runs the loop until the command has printed this.
  func hears(_ text: String) throws { try hears { $0.contains(text) } }

  /// Runs the loop until the command has printed enough.
  func hears(_ isEnough: (String) -> Bool) throws {
    try until {
      isEnough(command.capturedOutput.output.text)
    } turn: {
      _ = command.runIteration(at: SystemClock.monotonic())
    }
  }

  private func until(_ condition: () -> Bool, turn: () -> Void) throws {
    let end = SystemClock.monotonic() + .seconds(120)
    while true {
      turn()
      if condition() { return }
      try #require(SystemClock.monotonic() < end, "nothing has come for two minutes")
      try loop.runOnce(until: MonotonicTime.earlier(command.deadline, end))
    }
  }
}

let path = "/usr/local/bin:/usr/bin:/bin"

/// A shell command.
func shell(_ script: String, payload: [UInt8] = [], timeout: TimeSpan? = nil) -> CommandInvocation {
  CommandInvocation(
    ChildProcess.Program(
      path: "/bin/sh", words: ["sh", "-c", script].map { Array($0.utf8) }, environment: ["PATH": path]),
    payload: payload, timeout: timeout)
}

/// The outcome of a shell command.
func run(_ script: String, change: (inout CommandInvocation) -> Void = { _ in }) throws -> CommandOutcome {
  var order = shell(script)
  change(&order)
  return try Run(order).outcome()
}

extension CapturedOutput {
  /// All output, if it was short.
  var text: String { String(decoding: first + last, as: UTF8.self) }
}

/// Creates a file with these permissions.
func write(_ text: String, to path: String, mode: mode_t) throws {
  try FileDescriptor.open(path, [.writeOnly, .create, .exclusive], mode: mode).writeAll(Array(text.utf8))
}

/// Prints again what was measured in a process of its own.
func tell(_ result: ExitTest.Result?) {
  let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
  for line in lines where line.contains(": ") { print(line) }
}
